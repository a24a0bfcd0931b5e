// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"testing"
)

func TestPlanOfNothing(t *testing.T) {
	if p := NewPlan(nil); len(p.Problems) == 0 || (&Plan{}).String() != "" {
		t.Errorf("a plan of nothing has problems %v, and an empty one says %q", p.Problems, &Plan{})
	}
}
