// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Numbers that nothing can be counted to be are nothing.
func TestNegativeTallies(t *testing.T) {
	for _, least := range []int32{-1, math.MinInt32} {
		none := class{Total: least, PreparingDelete: least, SpecifiedDelete: least, Unavailable: least}
		strategy := tally{Replicas: 3, Partition: least, MaxUnavailable: least, MaxSurge: least, ScaleMaxUnavailable: math.MaxInt32, New: none, Old: none}
		negative := tally{Replicas: least, Partition: 5, ScaleMaxUnavailable: least, New: class{Total: 2}, RollBack: true}
		for _, test := range []struct {
			name  string
			tally tally
			want  Diff
		}{
			{"no pods", strategy, Diff{ScaleUp: 3, Create: 3}},
			{"no replicas", negative, Diff{ScaleDown: 2, DeleteReadyBudget: 2}},
		} {
			if diff := cmp.Diff(test.want, test.tally.diff()); diff != "" {
				t.Errorf("%s, %d (-want +got):\n%s", test.name, least, diff)
			}
			if blocked := test.tally.createBlocked(); blocked != nil {
				t.Errorf("%s, %d: creation waits: %v", test.name, least, blocked)
			}
			if blocked := test.tally.scaleDownBlocked(); blocked != nil {
				t.Errorf("%s, %d: scaling in waits: %v", test.name, least, blocked)
			}
		}
		three := line("+++")
		update := tally{Replicas: 3, MaxUnavailable: 1, Old: class{Total: 3, Unavailable: least}, New: class{Unavailable: least}}
		if now := update.selectForUpdate(three, unavailablePods{All: least, AtTarget: least}).now; len(now) != 1 {
			t.Errorf("maxUnavailable 1, %d unavailable: %d pods are updated", least, len(now))
		}
		if now := update.selectForDeletion(three).now; len(now) != 1 {
			t.Errorf("maxUnavailable 1, %d unavailable: %d pods are deleted", least, len(now))
		}
	}
}
