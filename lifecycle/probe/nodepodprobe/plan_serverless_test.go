// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// virtualNode is node-1, for which a virtual kubelet stands.
func virtualNode() *corev1.Node {
	return newNode(func(n *corev1.Node) { n.Labels = map[string]string{"type": "virtual-kubelet"} })
}

// PPM-3.9: labels and annotations of the pods of virtual nodes follow their conditions, and no agent is asked.
func TestServerless(t *testing.T) {
	waits := "wait: the node is a virtual kubelet, on which no agent runs"
	policies := []v1alpha1.ProbeMarkerPolicy{annotates(sets(v1alpha1.ProbeSucceeded, "idle=yes"), "cost=1"), sets(v1alpha1.ProbeFailed, "idle=no")}
	idle := newMarker("games", newProbe("idle", "Idle", policies...))
	moves := newMarker("moves", newProbe("idle", "Idle", sets(v1alpha1.ProbeSucceeded, "app=idle"), sets(v1alpha1.ProbeFailed, "app=web")))
	for _, test := range []struct {
		name    string
		markers []*v1alpha1.PodProbeMarker
		pod     *corev1.Pod
		stands  *v1alpha1.NodePodProbe
		want    []string
	}{
		{"no result", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0"), nil, []string{waits}},
		{"True", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0", has("Idle", corev1.ConditionTrue), labelled("idle", "no")), nil, []string{waits, "patch web-0: idle=yes cost=1"}},
		{"False: what the other state has set goes", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0", has("Idle", corev1.ConditionFalse), labelled("idle", "yes"), annotated("cost", "1")), nil, []string{waits, "patch web-0: idle=no cost-"}},
		{"Unknown", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0", has("Idle", corev1.ConditionUnknown), labelled("idle", "yes")), nil, []string{waits}},
		{"any other status", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0", has("Idle", "Perhaps"), labelled("idle", "yes")), nil, []string{waits}},
		{"it stands", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0", has("Idle", corev1.ConditionFalse), labelled("idle", "no")), nil, []string{waits}},
		{"no condition type", []*v1alpha1.PodProbeMarker{newMarker("games", newProbe("idle", "", policies...))}, newPod("web-0", has("", corev1.ConditionTrue)), nil, []string{waits}},
		{"a condition of the kubelet", []*v1alpha1.PodProbeMarker{newMarker("games", newProbe("idle", "Ready", policies...))}, newPod("web-0", has("Ready", corev1.ConditionTrue)), nil, []string{
			waits, "ignore games#idle of shop/web-0: the condition Ready is written by Kubernetes or podwright"}},
		{"a condition of the first", []*v1alpha1.PodProbeMarker{newMarker("hames", newProbe("same", "Idle", sets(v1alpha1.ProbeSucceeded, "idle=maybe"))), idle}, newPod("web-0", has("Idle", corev1.ConditionTrue)), nil, []string{
			waits, "patch web-0: idle=yes cost=1", "ignore hames#same of shop/web-0: the condition Idle is that of the probe games#idle"}},
		{"not initialized", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0", func(pod *corev1.Pod) { pod.Status.Conditions = nil }, has("Idle", corev1.ConditionTrue)), nil, []string{waits}},
		{"going", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0", has("Idle", corev1.ConditionTrue), ending), nil, []string{waits}},
		{"moved by its policy", []*v1alpha1.PodProbeMarker{moves}, newPod("web-0", annotated(v1alpha1.PodProbeMarkersAnnotation, "games,moves"), labelled("app", "idle"), has("Idle", corev1.ConditionFalse)), nil, []string{waits, "patch web-0: app=web"}},
		{"never selected", []*v1alpha1.PodProbeMarker{moves}, newPod("web-0", labelled("app", "idle"), has("Idle", corev1.ConditionFalse)), nil, []string{waits}},
		{"a NodePodProbe from before", []*v1alpha1.PodProbeMarker{idle}, newPod("web-0", has("Idle", corev1.ConditionTrue)), says(newProbes(probed("web-0", "games#idle", "by-hand")), "web-0", "games#idle=Failed"), []string{
			"spec", "shop/web-0 uid-web-0: by-hand in main /", "drop games#idle of shop/web-0: the node is virtual: what runs its pods probes them by their annotations", "patch web-0: idle=yes cost=1"}},
	} {
		s := newSnapshot(test.stands, []*corev1.Pod{test.pod}, test.markers...)
		s.Node, s.Serverless = virtualNode(), true
		if diff := cmp.Diff(test.want, shown(NewPlan(s))); diff != "" {
			t.Errorf("PPM-3.9: %s (-want +got):\n%s", test.name, diff)
		}
		if s.Serverless = false; test.stands == nil && len(NewPlan(s).Patches) > 0 {
			t.Errorf("PPM-3.9: %s, without the feature: %v", test.name, shown(NewPlan(s)))
		}
	}
}

// PPM-3.6, PPM-3.9: a marker concerns the nodes of the pods that it keeps, which no NodePodProbe names.
func TestServerlessMarkersThatMatter(t *testing.T) {
	moves := newMarker("moves", newProbe("idle", "Idle", sets(v1alpha1.ProbeSucceeded, "app=idle")))
	kept := newPod("web-0", annotated(v1alpha1.PodProbeMarkersAnnotation, "moves"), labelled("app", "idle"))
	other := newPod("web-1", labelled("app", "idle"), func(pod *corev1.Pod) { pod.Spec.NodeName = "node-2" })
	for serverless, want := range map[bool][]string{true: {"node-1"}, false: nil} {
		o := cached(t, newSnapshot(nil, []*corev1.Pod{kept, other}, moves))
		o.Features.Serverless = serverless
		var got []string
		o.markerChanged(moves, moves, func(key types.NamespacedName) { got = append(got, key.Name) })
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("PPM-3.9: serverless %t: %v are enqueued, want %v", serverless, got, want)
		}
	}
	ended := moves.DeepCopy()
	ended.DeletionTimestamp = &metav1.Time{Time: now}
	o := cached(t, newSnapshot(nil, []*corev1.Pod{kept}, ended))
	o.Features.Serverless = true
	o.markerChanged(moves, ended, func(key types.NamespacedName) {
		if key.Name != "node-1" {
			t.Errorf("PPM-3.9: %s is enqueued", key)
		}
	})
}
