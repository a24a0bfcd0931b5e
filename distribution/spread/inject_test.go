// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const rich = `subsets:
- name: a
  maxReplicas: 3
  requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}
  preferredNodeSelectorTerms: [{weight: 5, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]
  tolerations: [{key: spot, operator: Exists}]
  patch: {metadata: {labels: {subset: a}}, spec: {priorityClassName: low, containers: [{name: main, env: [{name: ZONE, value: a}]}]}}
- name: b`

func TestInject(t *testing.T) {
	for _, test := range []struct{ name, spec, pod, want string }{
		{"WS-10, WS-11: everything", rich,
			`{spec: {containers: [{name: main, image: "nginx:1"}]}}`,
			`
metadata: {annotations: {apps.kruise.io/matched-workloadspread: '{"name":"web","subset":"a","uid":"k"}'}, labels: {subset: a}}
spec:
  priorityClassName: low
  containers: [{name: main, image: "nginx:1", env: [{name: ZONE, value: a}]}]
  tolerations: [{key: spot, operator: Exists}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]`},
		{"WS-10: beside what the pod has", strings.ReplaceAll(rich, "patch:", "# "),
			`
spec:
  containers: [{name: main}]
  tolerations: [{key: other, operator: Exists}, {key: spot, operator: Exists}]
  affinity:
    podAffinity: {}
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: cpu, operator: Exists}]}, {}, {matchFields: [{key: metadata.name, operator: In, values: [n]}]}]}
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]`,
			`
metadata: {annotations: {apps.kruise.io/matched-workloadspread: '{"name":"web","subset":"a","uid":"k"}'}}
spec:
  containers: [{name: main}]
  tolerations: [{key: other, operator: Exists}, {key: spot, operator: Exists}]
  affinity:
    podAffinity: {}
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: cpu, operator: Exists}, {key: zone, operator: In, values: [a]}]}, {}, {matchFields: [{key: metadata.name, operator: In, values: [n]}], matchExpressions: [{key: zone, operator: In, values: [a]}]}]}
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: disk, operator: Exists}]}}, {weight: 5, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]`},
		{"WS-10: nothing but a name, and an empty term", "subsets: [{name: a, requiredNodeSelectorTerm: {}, patch: null}, {name: b}]",
			`{metadata: {name: web-1, annotations: {apps.kruise.io/matched-workloadspread: '{"name":"web","subset":"b"}'}}}`,
			`{metadata: {name: web-1, annotations: {apps.kruise.io/matched-workloadspread: '{"name":"web","subset":"a"}'}}, spec: {containers: null, affinity: {nodeAffinity: {}}}}`},
		{"WS-4: the only subset is not counted", "subsets: [{name: a}]", `{}`,
			`{metadata: {annotations: {apps.kruise.io/matched-workloadspread: '{"name":"web","subset":"a"}'}}, spec: {containers: null, affinity: {nodeAffinity: {}}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod, want := &corev1.Pod{}, &corev1.Pod{}
			if err := yaml.UnmarshalStrict([]byte(test.pod), pod); err != nil {
				t.Fatal(err)
			}
			if err := yaml.UnmarshalStrict([]byte(test.want), want); err != nil {
				t.Fatal(err)
			}
			before := pod.DeepCopy()
			result, err := Inject(Input{Pod: pod, Spread: spreadOf(t, test.spec), Workload: deployment(9), Key: "k", Now: now})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, result.Pod); diff != "" {
				t.Errorf("(-want +got) %s", diff)
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("the given pod (-before +after) %s", diff)
			}
		})
	}
}

func TestInjectNothing(t *testing.T) {
	pod := unnamed()
	result, err := Inject(Input{Pod: pod, Spread: spreadOf(t, "subsets: [{name: a, maxReplicas: 0}]"), Workload: deployment(9), Now: now})
	if err != nil || result.Pod != pod || result.Subset != "" {
		t.Errorf("subset %q, error %v (WS-8)", result.Subset, err)
	}
	for _, test := range []struct {
		in   Input
		want string
	}{
		{Input{Spread: spreadOf(t, "{}")}, "Input.Pod is nil; give it the pod that is created"},
		{Input{Pod: pod}, "Input.Spread is nil; give it the WorkloadSpread of the pod's workload"},
		{Input{Pod: pod, Spread: spreadOf(t, "subsets: [{name: a, patch: {spec: {containers: 5}}}]")}, "subset a of WorkloadSpread web: what the patch makes of the pod is none: "},
		{Input{Pod: pod, Spread: spreadOf(t, "subsets: [{name: a, patch: {spec: {hostname: 5}}}]")}, "subset a of WorkloadSpread web: what the patch makes of the pod is none: "},
		{Input{Pod: pod, Spread: spreadOf(t, "subsets: [{name: a, patch: [5]}]")}, "subset a of WorkloadSpread web: the patch is no strategic merge patch of a pod: "},
	} {
		if _, err := Inject(test.in); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("error %v, want %q (WS-11)", err, test.want)
		}
	}
}

// Whatever annotation is written is read again, in the short way and in the long one. (WS-4)
func TestMembers(t *testing.T) {
	ws := spreadOf(t, `subsets: [{name: a}, {name: 'say "b"'}, {name: ab}, {name: a}]`)
	m := newMembers(ws)
	for want, subset := range []string{"a", `say "b"`, "ab"} {
		for _, uid := range []string{"", "k"} {
			pod := newPod("x", "")
			pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = annotation(ws, subset, uid)
			if got := m.subset(pod); got != want {
				t.Errorf("subset %s with uid %q: %d, want %d", subset, uid, got, want)
			}
			matched, readable := Matched(pod)
			if diff := cmp.Diff(v1alpha1.MatchedWorkloadSpread{Name: "web", Subset: subset, UID: uid}, matched); diff != "" || !readable {
				t.Errorf("(-want +got) %s", diff)
			}
		}
	}
	for text, want := range map[string]int{`{"name":"web","subset":"z"}`: removed, `{"name":"db","subset":"a"}`: elsewhere, `{"name":"web"}`: elsewhere,
		`{"name":"web","subset":"a","x":1}`: 0, `{"subset":"ab","name":"web"}`: 2, `[]`: elsewhere} {
		pod := newPod("x", "")
		pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = text
		if got := m.subset(pod); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// WS-11: what was computed of the class of priority goes with it.
func TestInjectPriority(t *testing.T) {
	for _, test := range []struct {
		patch string
		kept  bool
	}{
		{`{"spec":{"priorityClassName":"low"}}`, false},
		{`{"spec":{"priorityClassName":"low","priority":5}}`, false},
		{`{"spec":{"priorityClassName":null}}`, false},
		{`{"spec":{"priorityClassName":"high"}}`, true},
		{`{"metadata":{"labels":{"a":"b"}}}`, true},
	} {
		ws := spreadOf(t, "subsets: [{name: a}]")
		ws.Spec.Subsets[0].Patch.Raw = []byte(test.patch)
		pod := unnamed()
		pod.Spec.PriorityClassName, pod.Spec.Priority, pod.Spec.PreemptionPolicy = "high", new(int32(1000)), new(corev1.PreemptNever)
		got, err := Inject(Input{Pod: pod, Spread: ws, Workload: deployment(3), Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if spec := &got.Pod.Spec; (spec.Priority != nil) != test.kept || (spec.PreemptionPolicy != nil) != test.kept {
			t.Errorf("WS-11: %s: priority %v, preemptionPolicy %v", test.patch, spec.Priority, spec.PreemptionPolicy)
		}
		if *pod.Spec.Priority != 1000 {
			t.Error("the given pod has changed")
		}
	}
}
