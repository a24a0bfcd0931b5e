// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestCheck(t *testing.T) {
	const zoneA = `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}}}`
	const big = `{containers: [{resources: {requests: {cpu: "3"}}}]}`
	for _, test := range []struct {
		name, pod, node string
		want            Misfit
	}{
		{"anything fits", `{}`, `{}`, ""},
		{"its node", `{nodeName: here}`, `{}`, ""},
		{"another node", `{nodeName: other}`, `{}`, NodeName},
		{"nodeSelector", `{nodeSelector: {zone: a}}`, `{metadata: {labels: {zone: a}}}`, ""},
		{"nodeSelector of another zone", `{nodeSelector: {zone: a}}`, `{metadata: {labels: {zone: b}}}`, NodeAffinity},
		{"affinity", zoneA, `{metadata: {labels: {zone: a}}}`, ""},
		{"affinity to another zone", zoneA, `{}`, NodeAffinity},
		{"affinity that cannot be read", `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Is, values: [a]}]}]}}}}`,
			`{metadata: {labels: {zone: a}}}`, InvalidAffinity},
		{"preferred affinity does not count", `{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}]}}}`, `{}`, ""},
		{"cordoned", `{}`, `{spec: {unschedulable: true}}`, Unschedulable},
		{"cordoned and tolerated", `{tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoSchedule}]}`, `{spec: {unschedulable: true}}`, ""},
		{"NoSchedule", `{}`, `{spec: {taints: [{key: a, effect: NoSchedule}]}}`, Taint},
		{"NoExecute", `{}`, `{spec: {taints: [{key: a, effect: NoExecute}]}}`, Taint},
		{"PreferNoSchedule", `{}`, `{spec: {taints: [{key: a, effect: PreferNoSchedule}]}}`, ""},
		{"tolerated", `{tolerations: [{key: a, operator: Exists}]}`, `{spec: {taints: [{key: a, effect: NoExecute}]}}`, ""},
		{"tolerated by comparison", `{tolerations: [{key: tier, operator: Gt, value: "3"}]}`, `{spec: {taints: [{key: tier, value: "5", effect: NoSchedule}]}}`, ""},
		{"not tolerated by comparison", `{tolerations: [{key: tier, operator: Gt, value: "7"}]}`, `{spec: {taints: [{key: tier, value: "5", effect: NoSchedule}]}}`, Taint},
		{"not ready is seen by taints only", `{}`, `{status: {conditions: [{type: Ready, status: "False"}]}}`, ""},
		{"small enough", big, `{status: {allocatable: {cpu: "3"}}}`, ""},
		{"too big", big, `{status: {allocatable: {cpu: "2"}}}`, Resources},
		{"a resource that the node lacks", `{containers: [{resources: {requests: {example.com/gpu: "1"}}}]}`, `{status: {allocatable: {cpu: "3"}}}`, Resources},
		{"nothing requested of what the node lacks", `{containers: [{resources: {requests: {example.com/gpu: "0"}}}]}`, `{}`, ""},
		{"too big at the start", `{initContainers: [{resources: {requests: {cpu: "3"}}}]}`, `{status: {allocatable: {cpu: "2"}}}`, Resources},
		{"too big with its overhead", `{overhead: {cpu: "3"}}`, `{status: {allocatable: {cpu: "2"}}}`, Resources},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pod corev1.PodSpec
			node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "here"}}
			if err := yaml.UnmarshalStrict([]byte(test.pod), &pod); err != nil {
				t.Fatal(err)
			}
			if err := yaml.UnmarshalStrict([]byte(test.node), &node); err != nil {
				t.Fatal(err)
			}
			if got := New(&pod).Check(&node); got != test.want {
				t.Errorf("misfit %q, want %q", got, test.want)
			}
		})
	}
}

// A lack of resources keeps no daemon pod off a node. If a node keeps only new pods away, a daemon pod that runs there
// stays.
func TestDaemon(t *testing.T) {
	for _, test := range []struct {
		name, pod, node string
		want            Misfit
		stays           bool
	}{
		{"fits", `{}`, `{}`, "", true},
		{"too big", `{containers: [{resources: {requests: {cpu: "3"}}}]}`, `{}`, "", true},
		{"another node", `{nodeName: other}`, `{}`, NodeName, false},
		{"another zone", `{nodeSelector: {zone: a}}`, `{}`, NodeAffinity, false},
		{"NoSchedule", `{}`, `{spec: {taints: [{key: a, effect: NoSchedule}]}}`, Taint, true},
		{"NoExecute", `{}`, `{spec: {taints: [{key: a, effect: NoExecute}]}}`, Taint, false},
		{"both", `{}`, `{spec: {taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]}}`, Taint, false},
		{"cordoned", `{}`, `{spec: {unschedulable: true}}`, Unschedulable, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pod corev1.PodSpec
			node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "here"}}
			if err := errors.Join(yaml.UnmarshalStrict([]byte(test.pod), &pod), yaml.UnmarshalStrict([]byte(test.node), &node)); err != nil {
				t.Fatal(err)
			}
			c := NewDaemon(&pod)
			if got, stays := c.Check(&node), c.Stays(&node); got != test.want || stays != test.stays {
				t.Errorf("misfit %q, stays %t; want %q, %t", got, stays, test.want, test.stays)
			}
		})
	}
}

func TestPinnedTo(t *testing.T) {
	const pin = `matchFields: [{key: metadata.name, operator: In, values: [here]}]`
	for _, test := range []struct{ name, terms, want, fits string }{
		{"the pin alone", `{` + pin + `}`, "here", ""},
		{"an expression beside it", `{` + pin + `, matchExpressions: [{key: pool, operator: NotIn, values: [gpu]}]}`, "here", ""},
		{"one that the node does not match", `{` + pin + `, matchExpressions: [{key: pool, operator: In, values: [gpu]}]}`, "here", "NodeAffinity"},
		{"a field before it", `{matchFields: [{key: metadata.name, operator: NotIn, values: [there]}, {key: metadata.name, operator: In, values: [here]}]}`, "here", ""},
		{"another term", `{matchExpressions: [{key: pool, operator: In, values: [gpu]}]}, {` + pin + `}`, "here", ""},
		{"two nodes", `{matchFields: [{key: metadata.name, operator: In, values: [here, there]}]}`, "", "InvalidAffinity"},
		{"another field", `{matchFields: [{key: metadata.uid, operator: In, values: [here]}]}`, "", "NodeAffinity"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pod corev1.Pod
			text := `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [` + test.terms + `]}}}}`
			if err := yaml.UnmarshalStrict([]byte(text), &pod.Spec); err != nil {
				t.Fatal(err)
			}
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "here"}}
			if got, fits := NodeOf(&pod), New(&pod.Spec).Check(node); got != test.want || string(fits) != test.fits {
				t.Errorf("node %q, misfit %q; want %q, %q", got, fits, test.want, test.fits)
			}
		})
	}
}

func TestPin(t *testing.T) {
	preferred := []corev1.PreferredSchedulingTerm{{Weight: 1}}
	template := corev1.PodSpec{
		NodeSelector: map[string]string{"zone": "a"},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: preferred,
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"n"}}}}}},
		}},
	}
	if got := PinnedTo(&template); got != "" {
		t.Errorf("the template is pinned to %q", got)
	}
	pod := template
	Pin(&pod, "n")
	if got := PinnedTo(&pod); got != "n" {
		t.Errorf("pinned to %q, want n", got)
	}
	if got := PinnedTo(&template); got != "" || len(pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Errorf("the template is pinned to %q, the pod prefers %v", got, pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	node := func(name, zone string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("1")}}}
	}
	for _, test := range []struct {
		node *corev1.Node
		want Misfit
	}{{node("n", "a"), ""}, {node("n", "b"), NodeAffinity}, {node("m", "a"), NodeName}} {
		if got := New(&pod).Check(test.node); got != test.want {
			t.Errorf("node %s in zone %s: misfit %q, want %q", test.node.Name, test.node.Labels["zone"], got, test.want)
		}
	}
}

// CS-38, DS-11: the taint tells, and the latest time.
func TestUnreachable(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	taint := func(key string, added time.Time) corev1.Taint {
		taint := corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute}
		if !added.IsZero() {
			taint.TimeAdded = &metav1.Time{Time: added}
		}
		return taint
	}
	for name, test := range map[string]struct {
		taints      []corev1.Taint
		since       time.Time
		unreachable bool
	}{
		"no taint":       {nil, time.Time{}, false},
		"another taint":  {[]corev1.Taint{taint(corev1.TaintNodeNotReady, at)}, time.Time{}, false},
		"without a time": {[]corev1.Taint{taint(corev1.TaintNodeUnreachable, time.Time{})}, time.Time{}, true},
		"two":            {[]corev1.Taint{taint(corev1.TaintNodeUnreachable, at.Add(time.Second)), taint(corev1.TaintNodeUnreachable, at)}, at.Add(time.Second), true},
	} {
		if since, unreachable := Unreachable(&corev1.Node{Spec: corev1.NodeSpec{Taints: test.taints}}); !since.Equal(test.since) || unreachable != test.unreachable {
			t.Errorf("%s: %v, %t", name, since, unreachable)
		}
	}
}
