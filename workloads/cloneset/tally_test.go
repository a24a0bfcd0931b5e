// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const noLimit = math.MaxInt32

func TestMoves(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tally tally
		want  Diff
	}{
		{"CS-12, example a: no pods",
			tally{Replicas: 5, MaxUnavailable: 1},
			Diff{ScaleUp: 5, Create: 5}},
		{"CS-12, example b: two marked, one may go",
			tally{Replicas: 5, MaxUnavailable: 1, New: class{Total: 5, SpecifiedDelete: 2}},
			Diff{DeleteReadyBudget: 1}},
		{"CS-12, example c: one gone, one marked",
			tally{Replicas: 5, MaxUnavailable: 1, New: class{Total: 4, SpecifiedDelete: 1}},
			Diff{ScaleUp: 1, Create: 1}},
		{"CS-12, example d: its replacement is not available yet",
			tally{Replicas: 5, MaxUnavailable: 1, New: class{Total: 5, SpecifiedDelete: 1, Unavailable: 1}},
			Diff{}},
		{"CS-12, example e: marked pods count for scaling in",
			tally{Replicas: 4, MaxUnavailable: 1, New: class{Total: 5, SpecifiedDelete: 2}},
			Diff{DeleteReadyBudget: 2}},
		{"CS-13, example f: partition",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, Old: class{Total: 5}},
			Diff{Update: 2, UpdateMaxUnavailable: 1}},
		{"CS-13, example g: rollback",
			tally{Replicas: 5, Partition: 4, MaxUnavailable: 2, New: class{Total: 4}, Old: class{Total: 1}, RollBack: true},
			Diff{Update: -3, UpdateMaxUnavailable: 2}},
		{"CS-8, CS-E6, example g: no rollback with the gate off",
			tally{Replicas: 5, Partition: 4, MaxUnavailable: 2, New: class{Total: 4}, Old: class{Total: 1}},
			Diff{}},
		{"CS-9: PreparingDelete and unavailable pods use the budget up, marked ones do not",
			tally{Replicas: 5, MaxUnavailable: 3, New: class{Total: 5, PreparingDelete: 1, SpecifiedDelete: 2, Unavailable: 1}},
			Diff{DeleteReadyBudget: 1}},
		{"CS-10, CS-E3, example h: a surge pod first",
			tally{Replicas: 5, MaxSurge: 1, New: class{Total: 5, SpecifiedDelete: 1}, RollBack: true},
			Diff{Surge: 1, ScaleUp: 1, Create: 1}},
		{"CS-12, example h: the surge pod is not ready",
			tally{Replicas: 5, MaxSurge: 1, New: class{Total: 6, SpecifiedDelete: 1, Unavailable: 1}, RollBack: true},
			Diff{Surge: 1}},
		{"CS-12, example h: the surge pod is ready",
			tally{Replicas: 5, MaxSurge: 1, New: class{Total: 6, SpecifiedDelete: 1}, RollBack: true},
			Diff{Surge: 1, DeleteReadyBudget: 1}},
		{"CS-10, example i: surge for an update",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, MaxSurge: 1, Old: class{Total: 5}, RollBack: true},
			Diff{Surge: 1, ScaleUp: 1, Create: 1, Update: 2, UpdateMaxUnavailable: 1}},
		{"CS-13, example j: the surge pod counts as updated",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, MaxSurge: 1, Old: class{Total: 5}, New: class{Total: 1, Unavailable: 1}, RollBack: true},
			Diff{Surge: 1, Update: 1, UpdateMaxUnavailable: 2}},
		{"CS-12, CS-E4, example k: the surplus pod is an old one",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, MaxSurge: 1, Old: class{Total: 4}, New: class{Total: 2, Unavailable: 2}, RollBack: true},
			Diff{ScaleDown: 1, ScaleDownOld: 1}},
		{"CS-12, example k: it goes when a new one is ready",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, MaxSurge: 1, Old: class{Total: 4}, New: class{Total: 2, Unavailable: 1}, RollBack: true},
			Diff{ScaleDown: 1, ScaleDownOld: 1, DeleteReadyBudget: 1}},
		{"CS-10, example l: surge for a marked old pod is old",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, MaxSurge: 1, Old: class{Total: 5, SpecifiedDelete: 1}, New: class{Total: 1, Unavailable: 1}, RollBack: true},
			Diff{Surge: 1, SurgeOld: 1, DeleteReadyBudget: 1, Update: 1, UpdateMaxUnavailable: 2}},
		{"CS-10, example m: surge no larger than the update",
			tally{Replicas: 5, Partition: 4, MaxUnavailable: 3, MaxSurge: 2, Old: class{Total: 5}, RollBack: true},
			Diff{Surge: 1, ScaleUp: 1, Create: 1, Update: 1, UpdateMaxUnavailable: 3}},
		{"CS-12, example n: scale maxUnavailable limits creation",
			tally{Replicas: 6, ScaleMaxUnavailable: 2, New: class{Total: 3, Unavailable: 1}},
			Diff{ScaleUp: 3, Create: 1}},
		{"CS-12, CS-E2, example n: scale maxUnavailable stops creation",
			tally{Replicas: 6, ScaleMaxUnavailable: 2, New: class{Total: 3, Unavailable: 2}},
			Diff{ScaleUp: 3}},
		{"CS-7, example o: PreparingDelete goes before marked, and counts",
			tally{Replicas: 3, MaxUnavailable: 1, New: class{Total: 3, PreparingDelete: 1}},
			Diff{}},
		{"CS-14, example o: PreparingDelete does not count as replica",
			tally{Replicas: 3, MaxUnavailable: 1, New: class{Total: 3, PreparingDelete: 1}, ExcludePreparingDelete: true},
			Diff{ScaleUp: 1, Create: 1}},
		{"CS-8, example p: current is update, one revision clamps nothing up",
			tally{Replicas: 5, Partition: 1, MaxUnavailable: 2, Old: class{Total: 2}, New: class{Total: 2}, SameRevision: true, RollBack: true},
			Diff{ScaleUp: 1, Create: 1, Update: 1, UpdateMaxUnavailable: 1}},

		{"CS-E7: a missing old pod is created at the current revision",
			tally{Replicas: 7, Partition: 3, MaxUnavailable: 1, Old: class{Total: 1}, New: class{Total: 2}},
			Diff{ScaleUp: 4, Create: 4, CreateOld: 2, Update: 0}},
		{"CS-E7: as many old ones as are created at all",
			tally{Replicas: 7, Partition: 3, ScaleMaxUnavailable: 1, Old: class{Total: 1}, New: class{Total: 2}},
			Diff{ScaleUp: 4, Create: 1, CreateOld: 1}},
		{"CS-E8: after a template is taken back its pods are new, the others old",
			tally{Replicas: 4, MaxUnavailable: 1, New: class{Total: 3}, Old: class{Total: 1}},
			Diff{Update: 1, UpdateMaxUnavailable: 1}},
		{"CS-E10: marked and replicas-1 at once: not replaced",
			tally{Replicas: 4, MaxUnavailable: 1, New: class{Total: 5, SpecifiedDelete: 1}},
			Diff{DeleteReadyBudget: 2}},
		{"CS-12: marked old pods count for scaling in the old revision",
			tally{Replicas: 3, Partition: 1, MaxUnavailable: 1, Old: class{Total: 3, SpecifiedDelete: 1}, New: class{Total: 3}},
			Diff{ScaleDown: 2, ScaleDownOld: 1, DeleteReadyBudget: 4}},
		{"CS-E4: maxUnavailable 0, the surge pod first",
			tally{Replicas: 3, MaxSurge: 1, Old: class{Total: 3}},
			Diff{Surge: 1, ScaleUp: 1, Create: 1, Update: 3}},
		{"CS-E4: maxUnavailable 0, the surge pod makes room",
			tally{Replicas: 3, MaxSurge: 1, Old: class{Total: 3}, New: class{Total: 1}},
			Diff{Surge: 1, Update: 2, UpdateMaxUnavailable: 1}},
		{"CS-E4: at last the surplus pod goes, an old one",
			tally{Replicas: 3, MaxSurge: 1, Old: class{Total: 1}, New: class{Total: 3}},
			Diff{ScaleDown: 1, ScaleDownOld: 1, DeleteReadyBudget: 1}},
		{"CS-10: while the update is paused, no pod is created for it",
			tally{Replicas: 3, MaxSurge: 2, Old: class{Total: 3}, Paused: true},
			Diff{Update: 3}},
		{"CS-10: while the update is paused, pods beyond replicas stay, and no more are created",
			tally{Replicas: 3, MaxSurge: 2, Old: class{Total: 3}, New: class{Total: 1}, Paused: true},
			Diff{Surge: 1, Update: 2, UpdateMaxUnavailable: 1}},
		{"CS-10: while the update is paused, what is marked for deletion is replaced first all the same",
			tally{Replicas: 3, MaxSurge: 2, Old: class{Total: 3, SpecifiedDelete: 1}, Paused: true},
			Diff{Surge: 1, SurgeOld: 1, ScaleUp: 1, Create: 1, Update: 3}},
		{"CS-10: surge for a rollback is old",
			tally{Replicas: 4, Partition: 3, MaxSurge: 1, Old: class{Total: 1}, New: class{Total: 3}, RollBack: true},
			Diff{Surge: 1, SurgeOld: 1, ScaleUp: 1, Create: 1, CreateOld: 1, Update: -2}},
		{"CS-10: a denied eviction asks for room",
			tally{Replicas: 1, MaxUnavailable: 1, MaxSurge: 1, New: class{Total: 1}, Evicted: 1},
			Diff{Surge: 1, ScaleUp: 1, Create: 1}},
		{"CS-10: the room stays until the pod goes",
			tally{Replicas: 1, MaxUnavailable: 1, MaxSurge: 1, New: class{Total: 2}, Evicted: 1},
			Diff{Surge: 1}},
		{"CS-10: the pod has gone",
			tally{Replicas: 1, MaxUnavailable: 1, MaxSurge: 1, New: class{Total: 1}},
			Diff{}},
		{"CS-10: nobody evicts it any more",
			tally{Replicas: 1, MaxUnavailable: 1, MaxSurge: 1, New: class{Total: 2}},
			Diff{ScaleDown: 1, DeleteReadyBudget: 2}},
		{"CS-10: no more room for evictions than maxSurge, at their revision",
			tally{Replicas: 5, Partition: 3, MaxSurge: 2, Old: class{Total: 3}, New: class{Total: 2}, Evicted: 3, EvictedOld: 2},
			Diff{Surge: 2, SurgeOld: 2, ScaleUp: 2, Create: 2, CreateOld: 2}},
		{"CS-10: evictions and marked pods share the room",
			tally{Replicas: 5, MaxSurge: 3, New: class{Total: 5, SpecifiedDelete: 1}, Evicted: 2},
			Diff{Surge: 2, ScaleUp: 2, Create: 2}},
		{"CS-10: no room for evictions without maxSurge",
			tally{Replicas: 1, MaxUnavailable: 1, New: class{Total: 1}, Evicted: 1},
			Diff{}},
		{"CS-10: no surge without maxSurge",
			tally{Replicas: 4, MaxUnavailable: 1, Old: class{Total: 4}},
			Diff{Update: 4, UpdateMaxUnavailable: 1}},
		{"CS-11: old PreparingDelete pods are replaced at their revision",
			tally{Replicas: 4, Partition: 2, MaxUnavailable: 1, Old: class{Total: 2, PreparingDelete: 1}, New: class{Total: 2}, ExcludePreparingDelete: true},
			Diff{ScaleUp: 1, Create: 1, CreateOld: 1}},
		{"CS-13: pods in PreparingDelete widen the limit",
			tally{Replicas: 3, MaxUnavailable: 1, Old: class{Total: 4, PreparingDelete: 1}, ExcludePreparingDelete: true},
			Diff{Update: 3, UpdateMaxUnavailable: 2}},
		{"CS-13: missing pods narrow the limit",
			tally{Replicas: 5, MaxUnavailable: 1, Old: class{Total: 3}},
			Diff{ScaleUp: 2, Create: 2, Update: 3}},
		{"CS-13, difference: both revisions short, no pod is rolled back",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 3, ScaleMaxUnavailable: 1, Old: class{Total: 2, Unavailable: 1}, New: class{Total: 1}, RollBack: true},
			Diff{ScaleUp: 2, CreateOld: 0}},
		{"CS-13, difference: both revisions over, no pod is updated",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, Old: class{Total: 4}, New: class{Total: 3}, RollBack: true},
			Diff{ScaleDown: 2, ScaleDownOld: 1, DeleteReadyBudget: 3}},
		{"CS-12: no limit does not overflow",
			tally{Replicas: 1, MaxUnavailable: math.MaxInt32, MaxSurge: math.MaxInt32, Old: class{Total: 3}},
			Diff{Surge: 1, ScaleDown: 1, ScaleDownOld: 1, DeleteReadyBudget: math.MaxInt32, Update: 1, UpdateMaxUnavailable: math.MaxInt32}},
		{"the zero tally is settled", tally{}, Diff{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.tally.ScaleMaxUnavailable == 0 {
				tt.tally.ScaleMaxUnavailable = noLimit
			}
			if diff := cmp.Diff(tt.want, tt.tally.diff()); diff != "" {
				t.Errorf("diff (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScaleMaxUnavailableZeroCreatesNothing(t *testing.T) {
	d := tally{Replicas: 3}.diff()
	if diff := cmp.Diff(Diff{ScaleUp: 3}, d); diff != "" {
		t.Errorf("CS-12: diff (-want +got):\n%s", diff)
	}
}

func TestClassAdd(t *testing.T) {
	var c class
	c.add(1, true, true, false) // CS-7: PreparingDelete first
	c.add(1, false, true, false)
	c.add(1, false, false, false)
	c.add(1, false, false, true)
	if diff := cmp.Diff(class{Total: 4, PreparingDelete: 1, SpecifiedDelete: 1, Unavailable: 1}, c); diff != "" {
		t.Errorf("CS-7: class (-want +got):\n%s", diff)
	}
}
