// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// statuses are those of the StatefulSets of apps, which have no selector.
var statuses = Status[appsv1.StatefulSetStatus, appsv1.StatefulSetCondition, appsv1.StatefulSetConditionType]{
	DeepCopy: (*appsv1.StatefulSetStatus).DeepCopy,
	Fields: func(s *appsv1.StatefulSetStatus) StatusFields[appsv1.StatefulSetCondition] {
		return StatusFields[appsv1.StatefulSetCondition]{ObservedGeneration: &s.ObservedGeneration, CollisionCount: &s.CollisionCount, Conditions: &s.Conditions}
	},
	Condition: func(c *appsv1.StatefulSetCondition) Condition[appsv1.StatefulSetConditionType] {
		return Condition[appsv1.StatefulSetConditionType]{Type: &c.Type, Status: &c.Status, LastTransitionTime: &c.LastTransitionTime, Reason: &c.Reason, Message: &c.Message}
	},
}

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
			status := &appsv1.StatefulSetStatus{Replicas: 3}
			got := statuses.Report(status, &appsv1.StatefulSetStatus{Conditions: test.old}, test.problems, now.Time)
			if got.Replicas != 3 || status.Conditions != nil {
				t.Errorf("%+v is reported of %+v", got, status)
			}
			if diff := cmp.Diff(test.want, got.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

// A condition may be one that is False when there is a problem.
func TestNegativeConditions(t *testing.T) {
	now, before := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), metav1.NewTime(time.Date(2026, 1, 1, 11, 0, 0, 0, time.UTC))
	negative := statuses
	negative.Negative = []appsv1.StatefulSetConditionType{"A"}
	problems := []rollout.Problem{{Condition: "A", Err: errors.New("x")}, {Condition: "B", Err: errors.New("y")}}
	for _, test := range []struct {
		old   string
		since metav1.Time
	}{{"False", before}, {"True", metav1.NewTime(now)}} {
		observed := &appsv1.StatefulSetStatus{Conditions: []appsv1.StatefulSetCondition{{Type: "A", Status: corev1.ConditionStatus(test.old), LastTransitionTime: before}}}
		want := []appsv1.StatefulSetCondition{{Type: "A", Status: "False", Message: "x", LastTransitionTime: test.since},
			{Type: "B", Status: "True", Message: "y", LastTransitionTime: metav1.NewTime(now)}}
		if diff := cmp.Diff(want, negative.Report(observed, observed, problems, now).Conditions); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", test.old, diff)
		}
	}
}

func TestSame(t *testing.T) {
	stands := appsv1.StatefulSetStatus{Replicas: 3, Conditions: []appsv1.StatefulSetCondition{
		{Type: "A", Status: "True", Message: "x", LastTransitionTime: metav1.NewTime(time.Unix(1, 0))}}}
	for name, test := range map[string]struct {
		edit func(*appsv1.StatefulSetStatus)
		want bool
	}{
		"nothing":               {func(*appsv1.StatefulSetStatus) {}, true},
		"began at another time": {func(s *appsv1.StatefulSetStatus) { s.Conditions[0].LastTransitionTime = metav1.Time{} }, true},
		"another message":       {func(s *appsv1.StatefulSetStatus) { s.Conditions[0].Message = "y" }, false},
		"another status":        {func(s *appsv1.StatefulSetStatus) { s.Conditions[0].Status = "False" }, false},
		"another type":          {func(s *appsv1.StatefulSetStatus) { s.Conditions[0].Type = "B" }, false},
		"gone":                  {func(s *appsv1.StatefulSetStatus) { s.Conditions = nil }, false},
		"another number":        {func(s *appsv1.StatefulSetStatus) { s.Replicas = 4 }, false},
	} {
		other := stands.DeepCopy()
		test.edit(other)
		if got := statuses.Same(&stands, other); got != test.want || len(stands.Conditions) != 1 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestCollided(t *testing.T) {
	observed := &appsv1.StatefulSetStatus{Replicas: 3}
	once := statuses.Collided(observed, time.Now())
	twice := statuses.Collided(once, time.Now())
	if observed.CollisionCount != nil || *once.CollisionCount != 1 || *twice.CollisionCount != 2 || twice.Replicas != 3 {
		t.Errorf("CS-CR5: counted %+v, then %+v, of %+v", once, twice, observed)
	}
}

// A kind may have no selector in its status, and a plan without an update revision counts nothing.
func TestPlanStatus(t *testing.T) {
	plan, p := newPlanner()
	p.Workload = Owner{Object: &metav1.ObjectMeta{Generation: 7}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	if err := p.ReadSelector(); err != nil {
		t.Fatal(err)
	}
	count := func(s *appsv1.StatefulSetStatus) { s.Replicas = 3 }
	observed := &appsv1.StatefulSetStatus{}
	if got := statuses.Plan(&p, observed, count); got == nil || got.ObservedGeneration != 7 || got.Replicas != 0 || observed.ObservedGeneration != 0 {
		t.Errorf("without an update revision: %+v", got)
	}
	plan.Revisions.Update = &appsv1.ControllerRevision{}
	selects := statuses
	selector := ""
	selects.Fields = func(s *appsv1.StatefulSetStatus) StatusFields[appsv1.StatefulSetCondition] {
		f := statuses.Fields(s)
		f.LabelSelector = &selector
		return f
	}
	got := selects.Plan(&p, observed, count)
	if got == nil || got.Replicas != 3 || selector != "app=web" {
		t.Errorf("%+v, selector %q", got, selector)
	}
	if again := statuses.Plan(&p, got, count); again != nil {
		t.Errorf("%+v is written after the same", again)
	}
}

// Conditions that consumers wait for stand behind those of problems, and keep their time while they stand. They are there from
// the first status on, whatever that was written for.
func TestKeptConditions(t *testing.T) {
	kept := statuses
	kept.Kept = []appsv1.StatefulSetConditionType{"Progressing", reconciling, stalled}
	now := time.Date(2026, 1, 1, 12, 0, 0, 5, time.UTC)
	since := metav1.NewTime(now.Truncate(time.Second))
	show := func(s *appsv1.StatefulSetStatus) (out []string) {
		for _, c := range s.Conditions {
			out = append(out, string(c.Type)+" "+string(c.Status)+" "+c.Reason+" "+c.LastTransitionTime.Sub(since.Time).String())
		}
		return out
	}
	check := func(what string, s *appsv1.StatefulSetStatus, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, show(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	problems := []rollout.Problem{{Condition: "A", Err: errors.New("x")}}
	none := &appsv1.StatefulSetStatus{}
	check("before anything is observed", kept.Report(none, none, problems, now), "A True  0s", "Reconciling True NotObserved 0s")
	check("so it is where a name is taken", kept.Collided(none, now), "Reconciling True NotObserved 0s")
	check("not after something is", kept.Report(&appsv1.StatefulSetStatus{ObservedGeneration: 1}, none, problems, now), "A True  0s")
	check("not of a kind that has none", statuses.Report(none, none, problems, now), "A True  0s")
	s := &appsv1.StatefulSetStatus{ObservedGeneration: 1}
	kept.Reconcile(s, "Early", "m", now)
	kept.Put(s, "Progressing", corev1.ConditionTrue, "Going", "m", now)
	check("in their order, behind problems", kept.Report(s, none, problems, now), "A True  0s", "Progressing True Going 0s", "Reconciling True Early 0s")
	kept.Reconcile(s, "Later", "m", now.Add(time.Hour))
	kept.Put(s, "Progressing", corev1.ConditionFalse, "Over", "m", now.Add(time.Hour))
	check("it keeps its time where its value stands", s, "Reconciling True Later 0s", "Progressing False Over 1h0m0s")
	kept.Stall(s, "Stuck", "m", now.Add(2*time.Hour))
	check("never both", s, "Progressing False Over 1h0m0s", "Stalled True Stuck 2h0m0s")
	kept.Reach(s)
	check("neither", s, "Progressing False Over 1h0m0s")
}

// If several things keep pods from the spec, the status names the first one. The order is: missing, outdated, too many, not
// available. (CS-S5, STS-S3, DS-20)
func TestDrift(t *testing.T) {
	kept := statuses
	kept.Kept = []appsv1.StatefulSetConditionType{reconciling, stalled}
	for _, test := range []struct {
		drift Drift
		want  string
	}{
		{Drift{}, ""},
		{Drift{Paused: "spec.paused"}, ""},
		{Drift{Unavailable: true}, "PodsUnavailable: pods are not available"},
		{Drift{Unavailable: true, Surplus: true}, "PodsSurplus: there are more pods than wanted"},
		{Drift{Unavailable: true, Surplus: true, Outdated: true}, "PodsOutdated: pods are to be updated"},
		{Drift{Unavailable: true, Surplus: true, Outdated: true, Paused: "spec.paused"}, "UpdatePaused: pods are to be updated, and spec.paused is true"},
		{Drift{Unavailable: true, Surplus: true, Outdated: true, Paused: "spec.paused", Missing: true}, "PodsMissing: pods are missing"},
	} {
		s := &appsv1.StatefulSetStatus{}
		kept.Stall(s, "Before", "m", time.Unix(1, 0))
		kept.Judge(s, test.drift, time.Unix(2, 0))
		got := ""
		for _, c := range s.Conditions {
			got += c.Reason + ": " + c.Message
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.drift, got, test.want)
		}
	}
}

// What cannot be read is stalled; what has no revision yet is not settled.
func TestUncountedStatus(t *testing.T) {
	kept := statuses
	kept.Kept = []appsv1.StatefulSetConditionType{reconciling, stalled}
	for name, test := range map[string]struct {
		unreadable error
		deleted    *metav1.Time
		want       []string
	}{
		"unreadable":              {errors.New("spec.x: is bad"), nil, []string{"Stalled InvalidSpec spec.x: is bad"}},
		"no revision":             {nil, nil, []string{"Reconciling NoRevision the revision of the template is not known"}},
		"in deletion":             {nil, &metav1.Time{Time: time.Unix(1, 0)}, nil},
		"unreadable, in deletion": {errors.New("x"), &metav1.Time{Time: time.Unix(1, 0)}, nil},
	} {
		_, p := newPlanner()
		p.Workload = Owner{Object: &metav1.ObjectMeta{Generation: 7, DeletionTimestamp: test.deleted}}
		p.Unreadable = test.unreadable
		var got []string
		for _, c := range kept.Plan(&p, &appsv1.StatefulSetStatus{}, nil).Conditions {
			got = append(got, string(c.Type)+" "+c.Reason+" "+c.Message)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
