// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Every write about a pod is part of the fewest requests: the first condition
// of a new pod is one.
func TestFirstCondition(t *testing.T) {
	s := testSnapshot(t, "A/A 0A?")
	s.Pods[0].Status.Conditions = nil
	plan := NewPlan(s)
	if got := summary(s, plan); got != "Refresh 0" {
		t.Fatalf("plan %q", got)
	}
	patched, err := plan.Patch[0].Patch.Apply(s.Pods[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range []corev1.PodConditionType{lifecyclev1alpha1.KruisePodReady, inplacev1alpha1.InPlaceUpdateReady} {
		if c := readiness.Condition(patched, condition); c == nil || c.Status != corev1.ConditionTrue {
			t.Errorf("condition %s: %v", condition, c)
		}
	}
	if writes, _ := plan.Patch[0].Patch.Writes(s.Pods[0]); len(writes) != 1 {
		t.Errorf("%d requests, want 1", len(writes))
	}
}
