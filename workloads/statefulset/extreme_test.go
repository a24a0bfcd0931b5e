// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"testing"
)

// TestAMillionReplicas plans for as many pods as a StatefulSet may have. One user must not have the controller of all others busy
// for long. A plan allocates for each pod as little as one for a tenth of them does.
func TestAMillionReplicas(t *testing.T) {
	allocations := func(n int32) float64 {
		s := testSnapshot(t, fmt.Sprint("A/A 0A 1A replicas=", n))
		return testing.AllocsPerRun(1, func() {
			if plan := NewPlan(s); len(plan.Create) == 0 || len(plan.Problems) > 0 {
				t.Fatalf("%d pods, problems: %s", len(plan.Create), problems(plan))
			}
		})
	}
	tenth, whole := allocations(mostReplicas/10), allocations(mostReplicas)
	t.Logf("%.0f and %.0f allocations", tenth, whole)
	if whole > 11*tenth {
		t.Errorf("%.0f allocations for %d pods, %.0f for a tenth of them", whole, mostReplicas, tenth)
	}
}
