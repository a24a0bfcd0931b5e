// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const zones = `subsets:
- {name: a, maxReplicas: 1, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}
- {name: b, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [b]}]}, tolerations: [{key: spot, operator: Exists}]}`

func TestAdopt(t *testing.T) {
	node := func(labels map[string]string, taints ...corev1.Taint) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: labels}, Spec: corev1.NodeSpec{Taints: taints}}
	}
	inZone := func(zone string) map[string]string { return map[string]string{"zone": zone} }
	spot, soft := corev1.Taint{Key: "spot", Effect: corev1.TaintEffectNoSchedule}, corev1.Taint{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}
	needs := func(key string) option {
		return func(pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpExists}}}}}}}
		}
	}
	for _, test := range []struct {
		name, spec string
		node       *corev1.Node
		pods       []*corev1.Pod
		want       []string
	}{
		{"WS-13: by the zone", zones, node(inZone("b")), []*corev1.Pod{newPod("x", "")}, []string{"a 0/1, b 1/-1", "adopt x in b"}},
		{"WS-13: beyond the limit", zones, node(inZone("a")), []*corev1.Pod{newPod("x", ""), newPod("y", "")}, []string{"a 2/0, b 0/-1", "adopt x in a", "adopt y in a"}},
		{"WS-13: nowhere", zones, node(inZone("c")), []*corev1.Pod{newPod("x", "")}, []string{"a 0/1, b 0/-1"}},
		{"WS-13: a taint", zones, node(inZone("a"), spot), []*corev1.Pod{newPod("x", "")}, []string{"a 0/1, b 0/-1"}},
		{"WS-13: a taint that the subset tolerates", zones, node(inZone("b"), spot), []*corev1.Pod{newPod("x", "")}, []string{"a 0/1, b 1/-1", "adopt x in b"}},
		{"WS-13: a taint of little effect", zones, node(inZone("a"), soft), []*corev1.Pod{newPod("x", "")}, []string{"a 0/1, b 0/-1"}},
		{"WS-13: with what the pod requires", zones, node(inZone("a")), []*corev1.Pod{newPod("x", "", needs("zone")), newPod("y", "", needs("disk"))}, []string{"a 1/0, b 0/-1", "adopt x in a"}},
		{"WS-13: preferred before the rest", "subsets: [{name: a}, {name: b, preferredNodeSelectorTerms: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}]}]",
			node(inZone("a")), []*corev1.Pod{newPod("x", "")}, []string{"a 0/-1, b 1/-1", "adopt x in b"}},
		{"WS-13: the patch before the missing", "subsets: [{name: a, patch: {metadata: {labels: {in: a}}}}, {name: b, maxReplicas: 0, patch: {metadata: {annotations: {in: b}}}}]",
			node(nil), []*corev1.Pod{newPod("x", "")}, []string{"a 0/-1, b 1/0", "adopt x in b"}},
		{"WS-13: where one is missed", "subsets: [{name: a, maxReplicas: 1}, {name: b, maxReplicas: 2}]",
			node(nil), []*corev1.Pod{newPod("x", ""), newPod("y", ""), newPod("z", ""), newPod("0", "")}, []string{"a 2/0, b 2/0", "adopt x in a", "adopt y in b", "adopt z in b", "adopt 0 in a"}},
		{"WS-13: a patch that cannot be applied", "subsets: [{name: a, patch: {spec: 5}}, {name: b}]", node(nil), []*corev1.Pod{newPod("x", "")}, []string{"a 0/-1, b 1/-1", "adopt x in b"}},
		{"WS-12: without a node, ended, or of a subset that is gone", "subsets: [{name: a}]", node(nil), []*corev1.Pod{newPod("x", "", pending(0)), newPod("y", "", ended), newPod("z", "z")}, []string{"a 0/-1"}},
		{"WS-12: a node that nobody knows", "subsets: [{name: a}]", nil, []*corev1.Pod{newPod("x", "")}, []string{"a 0/-1", "again after 10s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Compute(State{Spread: spreadOf(t, test.spec), Workload: deployment(9), Pods: test.pods, Node: func(string) *corev1.Node { return test.node }, Now: now})
			if diff := cmp.Diff(test.want, unpriced(show(got))); diff != "" {
				t.Errorf("(-want +got) %s", diff)
			}
		})
	}
}

// WS-14: what is written into an adopted pod.
func TestAdoptedPod(t *testing.T) {
	ws := spreadOf(t, "subsets: [{name: a, patch: {metadata: {labels: {in: a, gone: null, never: null}, annotations: {x: v, z: z}, finalizers: [f]}, spec: {hostname: h}}}]")
	pod := newPod("x", "", func(pod *corev1.Pod) {
		pod.Labels["gone"], pod.Annotations["z"] = "1", "z"
	})
	matched := `{"name":"web","subset":"a"}`
	adopt := func() Adoption {
		a := Compute(State{Spread: ws, Workload: deployment(1), Pods: []*corev1.Pod{pod}, Node: func(string) *corev1.Node { return &corev1.Node{} }, Now: now}).Adopt[0]
		a.Pod = nil
		return a
	}
	want := Adoption{Subset: "a", Annotations: map[string]*string{"x": new("v"), v1alpha1.MatchedWorkloadSpreadAnnotation: &matched}, Labels: map[string]*string{"in": new("a"), "gone": nil}}
	if diff := cmp.Diff(want, adopt()); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	ws.Annotations = map[string]string{v1alpha1.IgnorePatchExistingPodsAnnotation: "True"}
	want = Adoption{Subset: "a", Annotations: map[string]*string{v1alpha1.MatchedWorkloadSpreadAnnotation: &matched}}
	if diff := cmp.Diff(want, adopt()); diff != "" {
		t.Errorf("without the patch (-want +got) %s", diff)
	}
	ws.DeletionTimestamp = new(metav1.NewTime(now))
	if got := Compute(State{Spread: ws, Workload: deployment(1), Pods: []*corev1.Pod{pod}, Node: func(string) *corev1.Node { return &corev1.Node{} }, Now: now}).Adopt; len(got) > 0 {
		t.Errorf("a WorkloadSpread that is being deleted adopts %v", got)
	}
}
