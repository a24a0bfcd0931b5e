// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

func TestConditions(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	before := metav1.NewTime(now.Add(-time.Hour))
	condition := func(kind appsv1.StatefulSetConditionType, message string, since metav1.Time) appsv1.StatefulSetCondition {
		return appsv1.StatefulSetCondition{Type: kind, Status: "True", LastTransitionTime: since, Message: message}
	}
	over := condition("A", "x", before)
	over.Status = "False"
	for _, test := range []struct {
		name     string
		old      []appsv1.StatefulSetCondition
		problems []rollout.Problem
		want     []appsv1.StatefulSetCondition
	}{
		{"nothing is wrong", nil, nil, nil},
		{"nothing is wrong any more", []appsv1.StatefulSetCondition{condition("A", "x", before)}, nil, nil},
		{"one of each type, the first problem of its kind", nil,
			[]rollout.Problem{{Condition: "B", Err: errors.New("1")}, {Condition: "A", Err: errors.New("2")}, {Condition: "B", Err: errors.New("3")}},
			[]appsv1.StatefulSetCondition{condition("B", "1", now), condition("A", "2", now)}},
		{"a condition that stands keeps its time, whatever it says", []appsv1.StatefulSetCondition{condition("A", "x", before)},
			[]rollout.Problem{{Condition: "A", Err: errors.New("y")}, {Condition: "B", Err: errors.New("z")}},
			[]appsv1.StatefulSetCondition{condition("A", "y", before), condition("B", "z", now)}},
		{"one that did not hold begins now", []appsv1.StatefulSetCondition{over}, []rollout.Problem{{Condition: "A", Err: errors.New("y")}},
			[]appsv1.StatefulSetCondition{condition("A", "y", now)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Conditions(test.old, test.problems, now.Time,
				func(c appsv1.StatefulSetCondition) Condition[appsv1.StatefulSetConditionType] {
					return Condition[appsv1.StatefulSetConditionType](c)
				},
				func(c Condition[appsv1.StatefulSetConditionType]) appsv1.StatefulSetCondition {
					return appsv1.StatefulSetCondition(c)
				})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSameConditions(t *testing.T) {
	type kind = appsv1.StatefulSetConditionType
	read := func(c appsv1.StatefulSetCondition) Condition[kind] { return Condition[kind](c) }
	stands := []appsv1.StatefulSetCondition{{Type: "A", Status: "True", Message: "x", LastTransitionTime: metav1.NewTime(time.Unix(1, 0))}}
	for name, test := range map[string]struct {
		other []appsv1.StatefulSetCondition
		want  bool
	}{
		"began at another time": {[]appsv1.StatefulSetCondition{{Type: "A", Status: "True", Message: "x"}}, true},
		"another message":       {[]appsv1.StatefulSetCondition{{Type: "A", Status: "True", Message: "y"}}, false},
		"another status":        {[]appsv1.StatefulSetCondition{{Type: "A", Status: "False", Message: "x"}}, false},
		"another type":          {[]appsv1.StatefulSetCondition{{Type: "B", Status: "True", Message: "x"}}, false},
		"gone":                  {nil, false},
	} {
		if got := SameConditions(stands, test.other, read); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
