// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func withMarkers(t *testing.T, markers ...*v1alpha1.PodProbeMarker) *Options {
	t.Helper()
	reader := readers.Memory{}
	for _, m := range markers {
		reader[resourceMarkers] = append(reader[resourceMarkers], m)
	}
	return &Options{ControllerOptions: podwright.ControllerOptions{Reader: reader}}
}

// The filter of events against the planner itself: whatever changes about a pod, if that changes the plan, the marker
// is enqueued. (PPM-2.5)
func TestPodsThatMatter(t *testing.T) {
	reads, marker := mutation.Reads{}, newMarker()
	o := withMarkers(t, marker)
	for _, pod := range []*corev1.Pod{newPod("web-0"), newPod("web-0", "app=db")} {
		mutation.Plan[corev1.Pod]{
			What: "pod", Copy: (*corev1.Pod).DeepCopy,
			Can: regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|Labels|Annotations|Finalizers|OwnerReferences)|Spec\.NodeName$|Status)`),
			Of: func(pod *corev1.Pod) string {
				plan := NewPlan(&Snapshot{Marker: marker, Pods: []*corev1.Pod{pod}})
				return shown(plan) + fmt.Sprint(plan.Held)
			},
			Matters: mutation.Concerned(marker.Name, podFields, o.podChanged),
		}.Check(t, reads, pod)
	}
	reads.Require(t, "pod.ObjectMeta.DeletionTimestamp", "pod.ObjectMeta.Labels[app]", "pod.Status.Phase", "pod.Status.Conditions[].Status")
}

// The filter of events against the planner itself. A change of a NodePodProbe enqueues the marker if it changes what holds the marker up.
// Another result alone does not. (PPM-2.7)
func TestReportsThatMatter(t *testing.T) {
	reads, pod := mutation.Reads{}, newPod("web-0")
	marker := newMarker("seen=3", "matched=1", "untyped")
	o := withMarkers(t, marker)
	enqueued := func(before, after *v1alpha1.NodePodProbe) (enqueued bool) {
		o.nodePodProbeChanged(before, after, func(types.NamespacedName) { enqueued = true })
		return enqueued
	}
	said := func(state v1alpha1.ProbeState) *v1alpha1.NodePodProbe {
		n := newProbes("node-1")
		n.Spec.PodProbes[0].UID = pod.UID
		n.Status.PodProbeStatuses = []v1alpha1.PodProbeStatus{{Namespace: "shop", Name: "web-0", UID: pod.UID,
			ProbeStates: []v1alpha1.ContainerProbeState{{Name: "games#idle", State: state}}}}
		return n
	}
	for _, state := range []v1alpha1.ProbeState{v1alpha1.ProbeSucceeded, v1alpha1.ProbeUnknown} {
		mutation.Plan[v1alpha1.NodePodProbe]{
			What: "probes", Copy: (*v1alpha1.NodePodProbe).DeepCopy, Can: regexp.MustCompile(`^\.(ObjectMeta\.DeletionTimestamp|Spec|Status)`),
			Of: func(n *v1alpha1.NodePodProbe) string {
				return fmt.Sprint(NewPlan(&Snapshot{Marker: marker, Pods: []*corev1.Pod{pod}, Probed: []*v1alpha1.NodePodProbe{n}}).Held)
			},
			Matters: enqueued,
		}.Check(t, reads, said(state))
	}
	reads.Require(t, "probes.ObjectMeta.DeletionTimestamp", "probes.Spec.PodProbes[].Namespace", "probes.Spec.PodProbes[].Probes[].Name",
		"probes.Status.PodProbeStatuses[].UID", "probes.Status.PodProbeStatuses[].ProbeStates[].State", "probes.Status.PodProbeStatuses[].ProbeStates[].Message")
	if enqueued(said(v1alpha1.ProbeFailed), said(v1alpha1.ProbeSucceeded)) {
		t.Error("another result is no reason to look at the marker")
	}
}

// PPM-2.5: a marker that is being deleted is told of every node that has lost its probes, and no other.
func TestNodePodProbesThatMatter(t *testing.T) {
	o := withMarkers(t, newMarker("ending"), newMarker("name=stays"))
	mutation.CheckEvents(t, o.nodePodProbeChanged,
		mutation.On("it appears", nil, newProbes("n1"), ""),
		mutation.On("something else changes", newProbes("n1"), newProbes("n1"), ""),
		mutation.On("the probes go", newProbes("n1"), newProbes("n1", "nothing"), "shop/games"),
		mutation.On("the node goes", newProbes("n1"), nil, "shop/games"),
		mutation.On("the node is going", newProbes("n1"), newProbes("n1", "ending"), "shop/games"),
		mutation.On("the probes of a marker that stays", newProbes("n1", "asks-for=stays#idle"), newProbes("n1", "nothing"), ""),
	)
}
