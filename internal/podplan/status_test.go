// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
)

type testStatus = Status[appsv1.StatefulSetStatus, appsv1.StatefulSetCondition, appsv1.StatefulSetConditionType]

// statuses are those of the StatefulSets of apps, which have no selector.
var statuses = testStatus{
	DeepCopy: (*appsv1.StatefulSetStatus).DeepCopy,
	Fields: func(s *appsv1.StatefulSetStatus) StatusFields[appsv1.StatefulSetCondition] {
		return StatusFields[appsv1.StatefulSetCondition]{ObservedGeneration: &s.ObservedGeneration, CollisionCount: &s.CollisionCount, Conditions: &s.Conditions}
	},
	Condition: func(c *appsv1.StatefulSetCondition) Condition[appsv1.StatefulSetConditionType] {
		return Condition[appsv1.StatefulSetConditionType]{Type: &c.Type, Status: &c.Status, LastTransitionTime: &c.LastTransitionTime, Reason: &c.Reason, Message: &c.Message}
	},
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// conditionsOf shows conditions, and since when they are there.
func conditionsOf(s *appsv1.StatefulSetStatus) string {
	var out []string
	for _, c := range s.Conditions {
		words := strings.Fields(fmt.Sprint(c.Type, " ", c.Status, " ", c.Reason, " ", c.Message))
		out = append(out, strings.Join(append(words, "since", c.LastTransitionTime.UTC().Format("15:04:05.999999999")), " "))
	}
	return strings.Join(out, "; ")
}

// TestConditions shows the conditions that report problems at noon, beside others or in place of others:
//
//	negative    the same if A is False when there is a problem
//	same        whether a change of a status counts
//	drift       what keeps pods from the spec, in the order missing, outdated, too many, not available (CS-S5, STS-S3, DS-20)
//	uncounted   those of a status that counts no pods: of a spec that cannot be read, or without a revision
func TestConditions(t *testing.T) {
	type row struct {
		Old        []appsv1.StatefulSetCondition
		Problems   []string
		Edit       json.RawMessage
		Drift      Drift
		Unreadable string
		Deleted    *metav1.Time
	}
	patches.PlayRows(t, "testdata/conditions.txt", nil, func(t *testing.T, command string, r *row) string {
		kind := statuses
		kind.Kept = []appsv1.StatefulSetConditionType{reconciling, stalled}
		switch command {
		case "report", "negative":
			if kind = statuses; command == "negative" {
				kind.Negative = []appsv1.StatefulSetConditionType{"A"}
			}
			return report(t, kind, r.Old, r.Problems)
		case "same":
			stands := appsv1.StatefulSetStatus{Replicas: 3, Conditions: []appsv1.StatefulSetCondition{
				{Type: "A", Status: "True", Message: "x", LastTransitionTime: metav1.NewTime(noon)}}}
			other := stands.DeepCopy()
			patches.Merge(t, other, string(r.Edit))
			return fmt.Sprint(statuses.Same(&stands, other), " beside ", conditionsOf(&stands))
		case "drift":
			s := &appsv1.StatefulSetStatus{}
			kind.Stall(s, "Before", "m", noon.Add(-time.Hour))
			kind.Judge(s, r.Drift, noon)
			return conditionsOf(s)
		}
		_, p := newPlanner()
		p.Workload = Owner{Object: &metav1.ObjectMeta{Generation: 7, DeletionTimestamp: r.Deleted}}
		if p.At = noon; r.Unreadable != "" {
			p.Unreadable = errors.New(r.Unreadable)
		}
		return conditionsOf(kind.Plan(&p, &appsv1.StatefulSetStatus{}, nil))
	})
}

// report shows the conditions of a status that has other ones, when there are problems, each as "Condition text".
func report(t *testing.T, kind testStatus, old []appsv1.StatefulSetCondition, texts []string) string {
	t.Helper()
	var problems []rollout.Problem
	for _, text := range texts {
		condition, message, _ := strings.Cut(text, " ")
		problems = append(problems, rollout.Problem{Condition: condition, Err: errors.New(message)})
	}
	status := &appsv1.StatefulSetStatus{Replicas: 3}
	got := kind.Report(status, &appsv1.StatefulSetStatus{Conditions: old}, problems, noon)
	if got.Replicas != 3 || status.Conditions != nil {
		t.Errorf("%+v is reported of %+v", got, status)
	}
	return conditionsOf(got)
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
	now := noon.Add(5)
	check := func(what string, s *appsv1.StatefulSetStatus, want ...string) {
		t.Helper()
		if diff := cmp.Diff(strings.Join(want, "; "), conditionsOf(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	problems := []rollout.Problem{{Condition: "A", Err: errors.New("x")}}
	none := &appsv1.StatefulSetStatus{}
	const unread = "Reconciling True NotObserved the spec has not been read to its end yet since 12:00:00"
	check("before anything is observed", kept.Report(none, none, problems, now), "A True x since 12:00:00", unread)
	check("so it is where a name is taken", kept.Collided(none, now), unread)
	check("not after something is", kept.Report(&appsv1.StatefulSetStatus{ObservedGeneration: 1}, none, problems, now), "A True x since 12:00:00")
	check("not of a kind that has none", statuses.Report(none, none, problems, now), "A True x since 12:00:00")
	s := &appsv1.StatefulSetStatus{ObservedGeneration: 1}
	kept.Reconcile(s, "Early", "m", now)
	kept.Put(s, "Progressing", corev1.ConditionTrue, "Going", "m", now)
	check("in their order, behind problems", kept.Report(s, none, problems, now),
		"A True x since 12:00:00", "Progressing True Going m since 12:00:00", "Reconciling True Early m since 12:00:00")
	kept.Reconcile(s, "Later", "m", now.Add(time.Hour))
	kept.Put(s, "Progressing", corev1.ConditionFalse, "Over", "m", now.Add(time.Hour))
	check("it keeps its time where its value stands", s,
		"Reconciling True Later m since 12:00:00", "Progressing False Over m since 13:00:00")
	kept.Stall(s, "Stuck", "m", now.Add(2*time.Hour))
	check("never both", s, "Progressing False Over m since 13:00:00", "Stalled True Stuck m since 14:00:00")
	kept.Reach(s)
	check("neither", s, "Progressing False Over m since 13:00:00")
}
