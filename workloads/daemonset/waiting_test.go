// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"

	"github.com/podwright/podwright/inplace/rollout"
)

// DS-8, DS-14: pods say by which limit they are held back.
func TestWaitsNameTheLimit(t *testing.T) {
	for limit, want := range map[string]rollout.Reason{
		"maxSurge: 1":       {Rule: RuleMaxSurge, Limit: 1, Observed: 1},
		"maxSurge: 2":       {Rule: RuleMaxSurge, Limit: 2, Observed: 2},
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
