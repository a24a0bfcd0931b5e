// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// DS-8, DS-14: pods say by which limit they are held back.
func TestWaitsNameTheLimit(t *testing.T) {
	for limit, want := range map[string]rollout.Reason{
		"maxSurge: 1":       {Rule: ruleMaxSurge, Limit: 1, Observed: 1},
		"maxSurge: 2":       {Rule: ruleMaxSurge, Limit: 2, Observed: 2},
		"maxUnavailable: 1": {Rule: rollout.RuleMaxUnavailable, Limit: 1, Observed: 1},
	} {
		plan := NewPlan(place(t, setOf(t, rolling+limit+"}}}"), "n1:v1 n2:v1 n3:v1"))
		if len(plan.Waiting) == 0 {
			t.Fatalf("%s: plan %s", limit, plan)
		}
		for _, w := range plan.Waiting {
			if got := w.Reason; got.Rule != want.Rule || got.Limit != want.Limit || got.Observed != want.Observed {
				t.Errorf("%s: pod %s waits for %+v, want %+v", limit, w.Pod.Name, got, want)
			}
		}
	}
}

// DS-7: no new pod has the name of one that is there.
func TestNamesOfPodsAreTaken(t *testing.T) {
	s := place(t, newSet(), "n1 n2:v2")
	name := NewPlan(s).Create[0].Pod.Name
	s.Pods[0].Name = name
	if got := NewPlan(s).Create[0].Pod.Name; got == name {
		t.Errorf("two pods are named %s", got)
	}
}

// DS-13: nothing is recorded of a pod that has ended, also if it stays for a while.
func TestEndedPodsAreNotRefreshed(t *testing.T) {
	for state, want := range map[string]string{"n1:v2": "~n1 Refresh", "n1:v2+Failed": "", "n1:v2+Succeeded": "", "n1:v2+leaving": ""} {
		s := place(t, setOf(t, inPlace), state)
		s.Pods[0].Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
		s.BackOff = map[string]time.Time{"n1": noon.Add(time.Minute)}
		if got := show(NewPlan(s)); got != want {
			t.Errorf("%s: plan %q, want %q", state, got, want)
		}
	}
}

// DS-CR5: if the current revision holds the present template under another name, the present one is the current one.
func TestCurrentRevisionOfAnotherName(t *testing.T) {
	set := newSet()
	set.Status.CurrentRevision = "web-other"
	s := place(t, set, "n1:v2")
	other := revisionOf(t, set, "v2")
	other.Name, other.Revision = "web-other", 0
	s.Revisions = append(s.Revisions, other)
	plan := NewPlan(s)
	if r := plan.Revisions; r.Current == nil || r.Current != r.Update || r.Update.Name == "web-other" {
		t.Errorf("current revision %v, update revision %v", r.Current, r.Update)
	}
}
