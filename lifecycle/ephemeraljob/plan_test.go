// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestSucceeded(t *testing.T) {
	plan := NewPlan(place(t, newJob(), "p1:exit0"))
	want := v1alpha1.EphemeralJobCondition{Type: v1alpha1.EphemeralJobConditionSucceeded, Status: corev1.ConditionTrue, Reason: "JobSucceeded",
		Message: "All containers have succeeded in 1 pods", LastProbeTime: metav1.NewTime(noon), LastTransitionTime: metav1.NewTime(noon)}
	if diff := cmp.Diff(want, plan.Status.Conditions[1]); diff != "" {
		t.Errorf("EJ-21: condition (-want +got):\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	var r Refusals
	waits := func() (total time.Duration) { return r.Until.Sub(noon) }
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		if got := r.patience(); got != 2<<i {
			t.Errorf("EJ-14: after %d times, %d refusals in a row end a reconcile", i, got)
		}
		r = r.after(map[types.UID]string{"a": "no"}, nil, noon)
		if waits() != want || r.Pods["a"].Until != r.Until || !r.Tried {
			t.Errorf("EJ-14: the refusal %d is followed by %s", i+1, waits())
		}
	}
	for range 100 {
		r = r.after(map[types.UID]string{"a": "no"}, nil, noon)
	}
	if waits() != 5*time.Minute {
		t.Errorf("EJ-14: at last it waits %s", waits())
	}
	r = r.after(map[types.UID]string{"b": "no"}, []types.UID{"a"}, noon)
	if !r.Until.IsZero() || r.InARow != 0 || len(r.Pods) != 1 || r.Pods["b"].Times != 1 {
		t.Errorf("EJ-14: once a pod is served: %+v", r)
	}
}
