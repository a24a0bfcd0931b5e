// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

// Updates that the API server refuses. (SCS-15)
func TestRefused(t *testing.T) {
	w := many(t, "", 3, 0, 0)
	s := w.snapshot()
	s.Refused = rollout.Refusals{Until: noon.Add(-time.Second), Pods: map[types.UID]error{w.pods[0].UID: fmt.Errorf("no")}, Err: fmt.Errorf("refused")}
	plan := NewPlan(s)
	if got := strings.Join(updates(plan), " "); got != "p0001" || len(plan.Problems) != 1 {
		t.Errorf("updated %s:\n%s", got, plan)
	}
	s.Refused.Until = noon.Add(time.Second)
	plan = NewPlan(s)
	if len(plan.Patch) > 0 || waits(plan, "p0001") != string(rollout.RuleRefused) || plan.RequeueAfter != time.Second {
		t.Error(plan)
	}
}

// A pod that an exhausted budget protects comes last, and waits for that budget. (CT-10)
func TestDenied(t *testing.T) {
	w := many(t, "", 2, 0, 0)
	s := w.snapshot()
	denied := rollout.Denial{Budget: "web", Since: noon, Asked: noon}
	s.Refused = rollout.Refusals{Denied: map[types.UID]rollout.Denial{w.pods[0].UID: denied}}
	plan := NewPlan(s)
	if got := strings.Join(updates(plan), " "); got != "p0001" || waits(plan, "p0000") != string(rollout.RuleBudget) {
		t.Errorf("updated %s:\n%s", got, plan)
	}
	s.Refused.Denied[w.pods[1].UID] = rollout.Denial{Budget: "other", Since: noon.Add(time.Second)}
	plan = NewPlan(s)
	if got := strings.Join(updates(plan), " "); got != "p0000" || waits(plan, "p0001") != string(rollout.RuleBudget) {
		t.Errorf("the one that was refused longest ago: updated %s:\n%s", got, plan)
	}
}

// The update of a pod was refused, and the pod uses maxUnavailable up. The controller
// tries it again: the partition does not leave it behind those that wait for it. (SCS-15)
func TestRefusedPodThatOthersWaitFor(t *testing.T) {
	for strategy, want := range map[string]string{
		"maxUnavailable: 1, partition: 1": "p0000",
		"maxUnavailable: 2, partition: 1": "p0001",
	} {
		w := many(t, strategy, 2, 2, 2)
		w.image("log", "log:v3")
		w.down("p0000", "log") // by the update before, which is not known
		s := w.snapshot()
		s.Refused = rollout.Refusals{Until: noon.Add(-time.Second), Pods: map[types.UID]error{w.pods[0].UID: fmt.Errorf("no")}, Err: fmt.Errorf("refused")}
		plan := NewPlan(s)
		if got := strings.Join(updates(plan), " "); got != want {
			t.Errorf("%s: updated %q, want %s:\n%s", strategy, got, want, plan)
		}
	}
}
