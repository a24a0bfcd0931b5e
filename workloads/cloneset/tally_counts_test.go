// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// Numbers that nothing can be counted to be are nothing.
func TestNegativeTallies(t *testing.T) {
	for _, least := range []int32{-1, math.MinInt32} {
		none := Class{Total: least, PreparingDelete: least, SpecifiedDelete: least, Unavailable: least}
		strategy := Tally{Replicas: 3, Partition: least, MaxUnavailable: least, MaxSurge: least, ScaleMaxUnavailable: math.MaxInt32, New: none, Old: none}
		negative := Tally{Replicas: least, Partition: 5, ScaleMaxUnavailable: least, New: Class{Total: 2}, RollBack: true}
		for _, test := range []struct {
			name  string
			tally Tally
			want  Diff
		}{
			{"no pods", strategy, Diff{ScaleUp: 3, Create: 3}},
			{"no replicas", negative, Diff{ScaleDown: 2, DeleteReadyBudget: 2}},
		} {
			if diff := cmp.Diff(test.want, test.tally.Diff()); diff != "" {
				t.Errorf("%s, %d (-want +got):\n%s", test.name, least, diff)
			}
			if blocked := test.tally.CreateBlocked(); blocked != nil {
				t.Errorf("%s, %d: creation waits: %v", test.name, least, blocked)
			}
			if blocked := test.tally.ScaleDownBlocked(); blocked != nil {
				t.Errorf("%s, %d: scaling in waits: %v", test.name, least, blocked)
			}
		}
		three := make([]Candidate, 3)
		for i := range three {
			three[i] = Candidate{Pod: &corev1.Pod{}, Available: true}
		}
		update := Tally{Replicas: 3, MaxUnavailable: 1, Old: Class{Total: 3, Unavailable: least}, New: Class{Unavailable: least}}
		if move, _ := update.SelectForUpdate(three, Unavailable{All: least, AtTarget: least}); len(move) != 1 {
			t.Errorf("maxUnavailable 1, %d unavailable: %d pods are updated", least, len(move))
		}
		if now, _ := update.SelectForDeletion(three); len(now) != 1 {
			t.Errorf("maxUnavailable 1, %d unavailable: %d pods are deleted", least, len(now))
		}
	}
}
