// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestBudgetResizes makes sure that a resize is told from an update, and which budgets protect from it. (PUB-14.5, PUB-19)
func TestBudgetResizes(t *testing.T) {
	sized := func(cpu, memory, image string) *corev1.Pod {
		return budgetPod("a", func(pod *corev1.Pod) {
			pod.Spec.Containers = []corev1.Container{{Name: "main", Image: image,
				Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}},
				ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "memory", RestartPolicy: corev1.RestartContainer}}}}
		})
	}
	held := sized("2", "1Gi", "nginx:1")
	held.Labels["unavailable-pod.kruise.io/aside"] = "true"
	for _, tt := range []struct {
		name, lists   string
		after         *corev1.Pod
		alone, denied bool // as the features say, and whether the list protects from it
	}{
		{"cpu, and updates are listed", "", sized("2", "1Gi", "nginx:1"), false, true},
		{"cpu, and resizes count alone", "", sized("2", "1Gi", "nginx:1"), true, false},
		{"cpu, and resizes are listed", "RESIZE", sized("2", "1Gi", "nginx:1"), true, true},
		{"cpu, and neither is", "DELETE,EVICT", sized("2", "1Gi", "nginx:1"), false, false},
		{"memory, for which the container restarts", "UPDATE", sized("1", "2Gi", "nginx:1"), true, true},
		{"the same, and resizes are listed", "RESIZE", sized("1", "2Gi", "nginx:1"), true, false},
		{"cpu and an image", "RESIZE", sized("2", "1Gi", "nginx:2"), true, false},
		{"cpu and out of service", "UPDATE", held, true, true},
	} {
		b := budgetOfFour("3", 0, lists(tt.lists))
		past := invariants.NewPast()
		countPods(past, budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e"))
		a := &invariants.Answer{By: "webhook", For: "user", Operation: "UPDATE", Name: "a", Budget: "web", Began: noon, Ended: noon, Version: 3, Allowed: true, After: tt.after}
		a.Truth = func(name, _ string) []invariants.Object {
			if name == "pods" {
				return []invariants.Object{sized("1", "1Gi", "nginx:1")}
			}
			return []invariants.Object{b}
		}
		a.Cached = a.Truth
		var want []invariants.Invariant
		if tt.denied { // and it is allowed, and not booked
			want = []invariants.Invariant{invariants.Availability}
		}
		if diff := cmp.Diff(want, broken(past.BudgetAnswer(a, invariants.BudgetFeatures{Updates: true, ResizesAlone: tt.alone}))); diff != "" {
			t.Errorf("PUB-19: %s (-want +got):\n%s", tt.name, diff)
		}
	}
}
