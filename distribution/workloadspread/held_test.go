// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"testing"
	"time"

	"github.com/podwright/podwright/inplace/rollout"
)

const halves = "subsets: [{name: a, maxReplicas: 50%}, {name: c}]"

// WS-32: the plan says since when a subset is held up, as the condition does.
func TestHeldSince(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	began := now.Add(-time.Hour)
	plan := NewPlan(&Snapshot{Spread: newSpread(t, "web", halves), Now: now,
		HeldSince: map[rollout.Subject]time.Time{{Kind: "workload", Name: "Deployment web"}: began}})
	if len(plan.Held) != 1 || !plan.Held[0].Since.Equal(began) {
		t.Errorf("held: %v", plan.Held)
	}
}
