// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// probes is the PodProbeMarker of the workload, which counts so many pods.
func probes(matched int64) *lifecyclev1alpha1.PodProbeMarker {
	return &lifecyclev1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: "probes", UID: "probes", Generation: 1},
		Spec:   lifecyclev1alpha1.PodProbeMarkerSpec{Selector: selector},
		Status: lifecyclev1alpha1.PodProbeMarkerStatus{ObservedGeneration: 1, MatchedPods: matched}}
}

// asked is the NodePodProbe of a node that is asked about pods.
func asked(node string, pods ...string) *lifecyclev1alpha1.NodePodProbe {
	n := &lifecyclev1alpha1.NodePodProbe{ObjectMeta: metav1.ObjectMeta{Name: node}}
	for _, name := range pods {
		n.Spec.PodProbes = append(n.Spec.PodProbes, lifecyclev1alpha1.PodProbe{Name: name, UID: types.UID(name), Probes: []lifecyclev1alpha1.ContainerProbe{{Name: "probes#idle"}}})
	}
	return n
}

// says has an agent report a state of all pods.
func says(n *lifecyclev1alpha1.NodePodProbe, state lifecyclev1alpha1.ProbeState) *lifecyclev1alpha1.NodePodProbe {
	for _, pod := range n.Spec.PodProbes {
		n.Status.PodProbeStatuses = append(n.Status.PodProbeStatuses, lifecyclev1alpha1.PodProbeStatus{Name: pod.Name, UID: pod.UID,
			ProbeStates: []lifecyclev1alpha1.ContainerProbeState{{Name: "probes#idle", State: state}}})
	}
	return n
}

// has is a pod with a result.
func has(condition corev1.ConditionStatus, label string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels[ProbedLabel] = label
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: ProbedCondition, Status: condition})
	}
}

func TestProbesAreJudged(t *testing.T) {
	yes, no := has(corev1.ConditionTrue, "yes"), has(corev1.ConditionFalse, "no")
	there := slices.Clip([]Change{{New: probes(1)}, {New: pod("web-a")}, {New: asked("node-0", "web-a")}})
	reported := slices.Clip(append(there, Change{New: says(asked("node-0", "web-a"), lifecyclev1alpha1.ProbeSucceeded)}))
	for _, test := range []struct {
		name    string
		changes []Change
		wrong   []invariants.Invariant
	}{
		{"asked", there, nil},
		{"asked about a pod of another node", append(there, Change{New: asked("node-1", "web-a")}), breaks(invariants.Placement)},
		{"asked about a pod that no marker selects", append(there, Change{New: pod("web-b", other)}, Change{New: asked("node-0", "web-b")}), breaks(invariants.Placement)},
		{"asked twice", append(there, Change{New: asked("node-0", "web-a", "web-a")}), breaks(invariants.Identity)},
		{"a NodePodProbe goes", append(there, Change{Old: asked("node-0")}), breaks(invariants.Needless)},
		{"written", append(reported, Change{Old: pod("web-a"), New: pod("web-a", yes)}), nil},
		{"written late", append(reported, Change{New: says(asked("node-0", "web-a"), lifecyclev1alpha1.ProbeFailed)}, Change{Old: pod("web-a"), New: pod("web-a", yes)}), nil},
		{"not reported", append(there, Change{Old: pod("web-a"), New: pod("web-a", yes)}), breaks(invariants.Partition)},
		{"never reported", append(reported, Change{Old: pod("web-a", yes), New: pod("web-a", no)}), breaks(invariants.Partition)},
		{"the label alone", append(reported, Change{Old: pod("web-a"), New: pod("web-a", labelledAs("yes"))}), breaks(invariants.Partition)},
		{"taken away", append(reported, Change{Old: pod("web-a", yes), New: pod("web-a")}), breaks(invariants.Partition)},
	} {
		if diff := cmp.Diff(test.wrong, see(NewJudge(), test.changes...)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
	for _, test := range []struct {
		name   string
		node   *lifecyclev1alpha1.NodePodProbe
		pod    *corev1.Pod
		marker *lifecyclev1alpha1.PodProbeMarker
		wrong  []invariants.Invariant
	}{
		{"as it should be", says(asked("node-0", "web-a"), lifecyclev1alpha1.ProbeSucceeded), pod("web-a", yes), probes(1), nil},
		{"another result", says(asked("node-0", "web-a"), lifecyclev1alpha1.ProbeFailed), pod("web-a", yes), probes(1), breaks(invariants.Settled)},
		{"no result", says(asked("node-0", "web-a"), lifecyclev1alpha1.ProbeFailed), pod("web-a"), probes(1), breaks(invariants.Settled)},
		{"no node is asked", asked("node-0"), pod("web-a"), probes(1), breaks(invariants.Settled)},
		{"asked about a pod that is gone", says(asked("node-0", "web-a", "web-b"), lifecyclev1alpha1.ProbeSucceeded), pod("web-a", yes), probes(1), breaks(invariants.Settled)},
		{"it counts wrongly", says(asked("node-0", "web-a"), lifecyclev1alpha1.ProbeSucceeded), pod("web-a", yes), probes(2), breaks(invariants.Status)},
	} {
		j := NewJudge()
		see(j, Change{New: test.marker}, Change{New: test.pod}, Change{New: test.node})
		if diff := cmp.Diff(test.wrong, kinds(j.judgeProbesSettled())); diff != "" {
			t.Errorf("settled, %s: violated (-want +got):\n%s", test.name, diff)
		}
	}
}

func labelledAs(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[ProbedLabel] = value }
}

// A pod that gets a result is unchanged to its workload.
func TestResultsAreNothingToWorkloads(t *testing.T) {
	scenario{name: "written", there: objects(probes(1), says(asked("node-0", "web-a"), lifecyclev1alpha1.ProbeSucceeded)),
		old: pod("web-a"), new: pod("web-a", has(corev1.ConditionTrue, "yes"))}.check(t, (*spec).cloneSet)
}
