// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// The condition replaces the one that stands and keeps its time, and it goes when nothing holds. Other conditions and the given list stay.
func TestConditions(t *testing.T) {
	other := metav1.Condition{Type: "Other", Status: metav1.ConditionTrue}
	told := Told{Reason: "Paused", Message: "paused is true", Since: start.Add(-time.Hour)}
	standing := []metav1.Condition{Kubernetes.Make(told), other}
	before := slices.Clone(standing)
	paused := []rollout.Wait{whole(rollout.RulePaused, "paused is still true")}

	got := Kubernetes.Tell(standing, paused, nil, start)
	want := []metav1.Condition{other, Kubernetes.Make(Told{Reason: "Paused", Message: "paused is still true", Since: told.Since})}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("while it lasts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]metav1.Condition{other}, Kubernetes.Tell(standing, nil, nil, start)); diff != "" {
		t.Errorf("once it is over (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]metav1.Condition{other}, Kubernetes.Tell([]metav1.Condition{other}, paused, nil, start)); diff != "" {
		t.Errorf("before a minute is over (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, standing); diff != "" {
		t.Errorf("the list that was given has changed (-want +got):\n%s", diff)
	}
	if told := Kubernetes.Told([]metav1.Condition{other}); told != nil {
		t.Errorf("told by another condition: %+v", told)
	}
}

// Other words are no reason to write; another object, or another condition, is.
func TestToCompare(t *testing.T) {
	list := func(reason, message string, others ...metav1.Condition) []metav1.Condition {
		return append(others, Kubernetes.Make(Told{Reason: reason, Message: message, Since: start}))
	}
	for _, test := range []struct {
		name             string
		standing, wanted []metav1.Condition
		equal            bool
	}{
		{"other words", list("NotReady", "pod web-1: x"), list("NotReady", "pod web-1: y"), true},
		{"another object", list("NotReady", "pod web-1: x"), list("NotReady", "pod web-2: x"), false},
		{"it begins", nil, list("NotReady", "pod web-1: x"), false},
		{"it ends", list("NotReady", "pod web-1: x"), nil, false},
		{"another condition", list("NotReady", "pod web-1: x"), list("NotReady", "pod web-1: x", metav1.Condition{Type: "Other"}), false},
		{"nothing", nil, nil, true},
	} {
		before, after := Kubernetes.ToCompare(test.standing, test.wanted)
		if slices.Equal(before, after) != test.equal {
			t.Errorf("%s: equal is %t", test.name, !test.equal)
		}
	}
}
