// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The order of updates: those that serve least go first. (SCS-9)
func TestOrder(t *testing.T) {
	w := many(t, "maxUnavailable: 100%", 9, 0, 0)
	for i, act := range []func(*corev1.Pod){
		func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(noon.Add(-time.Minute)) },
		func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(noon.Add(time.Minute)) },
		func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].RestartCount = 3 },
		func(pod *corev1.Pod) {
			pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(time.Minute))
		},
		func(pod *corev1.Pod) { pod.Status.Conditions[0].Status = corev1.ConditionFalse },
		func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodUnknown },
		func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodPending },
		func(pod *corev1.Pod) { pod.Spec.NodeName = "" },
		func(*corev1.Pod) {},
	} {
		act(w.pods[i])
	}
	const want = "p0007 p0006 p0005 p0004 p0003 p0002 p0001 p0008 p0000"
	if got := strings.Join(updates(w.plan()), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w.pods[8].Labels["lifecycle.apps.kruise.io/state"] = "PreparingUpdate"
	if got := strings.Join(updates(w.plan()), " "); !strings.HasPrefix(got, "p0008 p0007") {
		t.Errorf("%s, want p0008 first, whose workload prepares it", got)
	}
	delete(w.pods[8].Labels, "lifecycle.apps.kruise.io/state")
	slices.Reverse(w.pods)
	if got := strings.Join(updates(w.plan()), " "); got != want {
		t.Errorf("listed in another order: %s, want %s", got, want)
	}
}

// Pods with a higher priority go first, and among equal ones those that serve least. (SCS-29)
func TestPriority(t *testing.T) {
	weight := func(n int, key, value string) string {
		return fmt.Sprintf("{weight: %d, matchSelector: {matchLabels: {%s: %s}}}", n, key, value)
	}
	for _, test := range []struct{ name, strategy, want string }{
		{"the order without one", "{}", "6 5 0 1 2 3 4"},
		{"all are equal", "{orderPriority: [{orderedKey: none}]}", "6 5 0 1 2 3 4"},
		{"a weight", "{weightPriority: [" + weight(1, "ring", "a-2") + "]}", "2 6 5 0 1 3 4"},
		{"weights add up", "{weightPriority: [" + weight(10, "app", "web") + ", " + weight(40, "ring", "a-2") + ", " + weight(60, "zone", "z10") + ", " + weight(30, "ring", "a-9") + "]}", "3 2 6 5 0 1 4"},
		{"none of the keys, then by key, and by the number at the end of its value", "{orderPriority: [{orderedKey: ring}, {orderedKey: zone}]}", "5 0 1 6 2 3 4"},
		{"another key first", "{orderPriority: [{orderedKey: zone}, {orderedKey: ring}]}", "5 0 1 3 4 6 2"},
		{"scattered after that", "{orderPriority: [{orderedKey: zone}, {orderedKey: ring}]}, scatterStrategy: [{key: group, value: x}]", "6 5 0 1 3 4 2"},
	} {
		w := many(t, "maxUnavailable: 100%, priorityStrategy: "+test.strategy, 7, 0, 0)
		for i, of := range []map[string]string{nil, nil, {"ring": "a-2", "group": "x"}, {"zone": "z10"}, {"zone": "z9"}, {}, {"ring": "a-9", "group": "x"}} {
			w.pods[i].Labels = map[string]string{"app": "web"}
			maps.Copy(w.pods[i].Labels, of)
		}
		w.pods[5].Status.Conditions[0].Status = corev1.ConditionFalse
		w.pods[6].Status.Phase = corev1.PodPending
		got := strings.ReplaceAll(strings.Join(updates(w.plan()), " "), "p000", "")
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		w.set.Spec.UpdateStrategy.Partition = new(intstr.FromInt32(5))
		if first := strings.ReplaceAll(strings.Join(updates(w.plan()), " "), "p000", ""); first != test.want[:3] {
			t.Errorf("%s, with a partition: %s, want %s", test.name, first, test.want[:3])
		}
	}
}

// Scattered updates: U is a pod without the label, others have its value. (SCS-10)
func TestScatter(t *testing.T) {
	for _, test := range []struct{ pods, terms, want string }{
		{"U U U U M M", "{key: group, value: M}", "4 0 1 2 3 5"},
		{"U U U M M M", "{key: group, value: M}", "3 0 1 4 2 5"},
		{"U U M M M M", "{key: group, value: M}", "2 3 0 4 1 5"},
		{"U U U U M M", "{key: group, value: '*'}", "4 0 1 2 3 5"},
		{"U U U U M M", "{key: group, value: none}", "0 1 2 3 4 5"},
		{"M U U U U U", "{key: group, value: M}", "0 1 2 3 4 5"},
		{"U U A A A B B", "{key: group, value: '*'}", "5 2 0 1 3 4 6"},
		{"U U A A A B B", "{key: group, value: '*'}, {key: group, value: B}", "5 2 0 1 3 4 6"},
		{"U U A A A B B", "{key: group, value: B}, {key: group, value: A}", "5 2 0 1 3 4 6"},
	} {
		words := strings.Fields(test.pods)
		w := many(t, "maxUnavailable: 100%, scatterStrategy: ["+test.terms+"]", len(words), 0, 0)
		for i, word := range words {
			w.pods[i].Labels = map[string]string{"app": "web"}
			if word != "U" {
				w.pods[i].Labels["group"] = word
			}
		}
		got := strings.Join(updates(w.plan()), " ")
		got = strings.ReplaceAll(got, "p000", "")
		if got != test.want {
			t.Errorf("%s by %s: %s, want %s", test.pods, test.terms, got, test.want)
		}
	}
}
