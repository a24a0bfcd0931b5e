// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawClass draws the counts of one revision.
func drawClass(t *rapid.T, name string) class {
	rest := rapid.Int32Range(0, 40)
	c := class{
		PreparingDelete: rest.Draw(t, name+" PreparingDelete") / 10,
		SpecifiedDelete: rest.Draw(t, name+" SpecifiedDelete") / 10,
		Unavailable:     rest.Draw(t, name+" Unavailable") / 4,
	}
	c.Total = c.PreparingDelete + c.SpecifiedDelete + c.Unavailable + rest.Draw(t, name+" fine")
	return c
}

func drawStrategy(t *rapid.T) tally {
	replicas := rapid.Int32Range(0, 60).Draw(t, "replicas")
	return tally{
		Replicas:            replicas,
		Partition:           rapid.Int32Range(0, replicas).Draw(t, "partition"),
		MaxUnavailable:      rapid.OneOf(rapid.Int32Range(0, 10), rapid.Just(int32(math.MaxInt32))).Draw(t, "maxUnavailable"),
		MaxSurge:            rapid.OneOf(rapid.Int32Range(0, 10), rapid.Just(int32(math.MaxInt32))).Draw(t, "maxSurge"),
		ScaleMaxUnavailable: rapid.OneOf(rapid.Int32Range(0, 10), rapid.Just(int32(math.MaxInt32))).Draw(t, "scale maxUnavailable"),
		SameRevision:        rapid.Bool().Draw(t, "same revision"),
		RollBack:            rapid.Bool().Draw(t, "roll back"),
	}
}

func TestMovesKeepTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tally := drawStrategy(t)
		tally.ExcludePreparingDelete = rapid.Bool().Draw(t, "exclude PreparingDelete")
		tally.New, tally.Old = drawClass(t, "new"), drawClass(t, "old")
		tally.Evicted = rapid.Int32Range(0, 3).Draw(t, "evicted")
		tally.EvictedOld = rapid.Int32Range(0, tally.Evicted).Draw(t, "evicted old")
		m := tally.diff()
		total := tally.owned()
		if tally.ExcludePreparingDelete {
			total -= tally.preparingDelete()
		}
		for _, check := range []struct {
			what string
			ok   bool
		}{
			{"nothing is negative", min(m.Surge, m.SurgeOld, m.ScaleUp, m.Create, m.CreateOld, m.ScaleDown,
				m.ScaleDownOld, m.DeleteReadyBudget, m.UpdateMaxUnavailable) >= 0},
			{"CS-10: surge within maxSurge", m.Surge <= tally.MaxSurge && m.SurgeOld <= m.Surge},
			{"CS-12: create within what is missing", m.Create <= m.ScaleUp && m.CreateOld <= m.Create},
			{"CS-12: never more than replicas and surge", m.Create == 0 || total+int64(m.Create) <= int64(tally.Replicas)+int64(m.Surge)},
			{"CS-12: never fewer than replicas", m.ScaleDown == 0 || total-tally.specified()-int64(m.ScaleDown) >= int64(tally.Replicas)},
			{"CS-12: create within scale maxUnavailable", m.Create == 0 || tally.unavailable()+int64(m.Create) <= int64(tally.ScaleMaxUnavailable)},
			{"CS-12: never up and down at once", m.ScaleUp == 0 || m.ScaleDown == 0},
			{"CS-23: as many pods of a revision as there are", m.ScaleDownOld <= tally.Old.Total && (tally.scaleDownBlocked() != nil || m.ScaleDown-m.ScaleDownOld <= tally.New.Total)},
			{"CS-12: ready deletions within maxUnavailable", m.DeleteReadyBudget == 0 ||
				tally.unavailable()+int64(m.DeleteReadyBudget) <= int64(tally.MaxUnavailable)+tally.extra()},
			{"CS-13: as many updates as there are pods", m.Update <= tally.Old.Total && -m.Update <= tally.New.Total},
			{"CS-13: never past the partition", m.Update <= 0 || tally.Old.Total-m.Update >= tally.Partition},
			{"CS-8: no rollback with the gate off", m.Update >= 0 || tally.RollBack && !tally.SameRevision},
			{"CS-13: rolling back keeps the share of the update revision", m.Update >= 0 || tally.New.Total+m.Update >= tally.Replicas-tally.Partition},
			{"CS-16: a limit on creation has a reason", (tally.createBlocked() != nil) == (m.Create < m.ScaleUp)},
		} {
			if !check.ok {
				t.Errorf("%s: %+v gives %+v", check.what, tally, m)
			}
		}
	})
}

func TestSettledMovesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tally := drawStrategy(t)
		tally.New.Total, tally.Old.Total = tally.Replicas-tally.Partition, tally.Partition
		if m := tally.diff(); m != (Diff{}) {
			t.Errorf("%+v is settled and gives %+v", tally, m)
		}
	})
}
