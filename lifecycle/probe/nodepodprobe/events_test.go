// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// cached returns options whose caches hold what a snapshot does.
func cached(t *testing.T, s *Snapshot) *Options {
	t.Helper()
	reader := readers.Memory{}
	for _, markers := range s.Markers {
		for _, m := range markers {
			reader[resourceMarkers] = append(reader[resourceMarkers], m)
		}
	}
	for _, pod := range s.Pods {
		reader[resourcePods] = append(reader[resourcePods], pod)
	}
	if s.NodePodProbe != nil {
		reader[resourceNodePodProbes] = []metav1.Object{s.NodePodProbe}
	}
	return &Options{ControllerOptions: podwright.ControllerOptions{Reader: reader}}
}

func describe(s *Snapshot) string { return strings.Join(shown(NewPlan(s)), "\n") }

var changing = regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|Labels|Annotations|Finalizers|OwnerReferences|UID)|Spec\.NodeName$|Status)`)

// The filter of events against the planner itself: whatever changes about a pod, if that changes the plan, the node
// is enqueued. (PPM-3.6)
func TestPodsThatMatter(t *testing.T) {
	reads := mutation.Reads{}
	policy := sets(v1alpha1.ProbeSucceeded, "idle=yes")
	policy.Annotations = map[string]string{"cost": "low"}
	markers := newMarker("games", newProbe("idle", "Idle", policy, sets(v1alpha1.ProbeFailed, "idle=no")))
	for _, state := range []string{"games#idle=Succeeded", "games#idle=Failed"} {
		for _, pod := range []*corev1.Pod{newPod("web-0"), newPod("web-0", "condition=Idle:True", "label=idle:yes", "annotation=cost:low")} {
			n := says(newProbes(probed("web-0", "games#idle", "by-hand")), "web-0", state)
			of := func(pod *corev1.Pod) *Snapshot { return newSnapshot(n, []*corev1.Pod{pod}, markers) }
			o := cached(t, of(pod))
			mutation.Plan[corev1.Pod]{
				What: "pod", Copy: (*corev1.Pod).DeepCopy, Can: changing,
				Of: func(pod *corev1.Pod) string {
					if pod.Spec.NodeName != "node-1" {
						return "elsewhere"
					}
					return describe(of(pod))
				},
				Matters: mutation.Concerned(n.Name, podFields, o.podChanged),
			}.Check(t, reads, pod)
		}
	}
	reads.Require(t, "pod.ObjectMeta.DeletionTimestamp", "pod.ObjectMeta.Labels[app]", "pod.Status.PodIP", "pod.Status.Phase", "pod.Status.Conditions[].Status")
}

// A change of what the agent says enqueues the node if it changes the plan.
func TestReportsThatMatter(t *testing.T) {
	reads := mutation.Reads{}
	of := func(n *v1alpha1.NodePodProbe) *Snapshot {
		return newSnapshot(n, []*corev1.Pod{newPod("web-0", "condition=Idle:False")}, newMarker("games", newProbe("idle", "Idle", sets(v1alpha1.ProbeSucceeded, "idle=yes"))))
	}
	mutation.Plan[v1alpha1.NodePodProbe]{
		What: "report", Copy: (*v1alpha1.NodePodProbe).DeepCopy,
		Can: regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|UID)|Status\.PodProbeStatuses\[\d*\]\.ProbeStates)`),
		Of:  func(n *v1alpha1.NodePodProbe) string { return describe(of(n)) },
		Matters: func(before, after *v1alpha1.NodePodProbe) (enqueued bool) {
			nodePodProbeChanged(before, after, func(types.NamespacedName) { enqueued = true })
			return enqueued
		},
	}.Check(t, reads, says(newProbes(probed("web-0", "games#idle")), "web-0", "games#idle=Succeeded"))
	reads.Require(t, "report.Status.PodProbeStatuses[].ProbeStates[].State", "report.Status.PodProbeStatuses[].ProbeStates[].Message")
}

// PPM-3.6: which nodes a marker concerns: those that have its probes, and those of the pods that it selects.
func TestMarkersThatMatter(t *testing.T) {
	games := newMarker("games", newProbe("idle", "Idle"))
	ended := games.DeepCopy()
	ended.DeletionTimestamp = &metav1.Time{Time: now}
	elsewhere := games.DeepCopy()
	elsewhere.Namespace = "other"
	o := cached(t, newSnapshot(newProbes(probed("gone", "games#idle", "endgames#idle")),
		[]*corev1.Pod{newPod("a", "node=node-2"), newPod("b", "node="), newPod("c", "node=node-3", "label=app:db")}, games))
	mutation.CheckEvents(t, o.markerChanged,
		mutation.On("it appears", nil, games, "node-1 node-2"),
		mutation.On("it changes", games, games, "node-1 node-2"),
		mutation.On("it goes", ended, nil, "node-1"),
		mutation.On("a namesake", nil, elsewhere, ""),
		mutation.On("another one", nil, newMarker("endgames", newProbe("idle", "Idle")), "node-1 node-2"),
	)
}

// PPM-3.6, PPM-3.9: a marker concerns the nodes of the pods that it keeps, which no NodePodProbe names.
func TestServerlessMarkersThatMatter(t *testing.T) {
	moves := newMarker("moves", newProbe("idle", "Idle", sets(v1alpha1.ProbeSucceeded, "app=idle")))
	ended := moves.DeepCopy()
	ended.DeletionTimestamp = &metav1.Time{Time: now}
	kept := newPod("web-0", "annotation="+v1alpha1.PodProbeMarkersAnnotation+":moves", "label=app:idle")
	o := cached(t, newSnapshot(nil, []*corev1.Pod{kept, newPod("web-1", "label=app:idle", "node=node-2")}, moves))
	mutation.CheckEvents(t, o.markerChanged, mutation.On("without the feature", moves, moves, ""))
	o.Features.Serverless = true
	mutation.CheckEvents(t, o.markerChanged, mutation.On("it changes", moves, moves, "node-1"), mutation.On("it ends", moves, ended, "node-1"))
}
