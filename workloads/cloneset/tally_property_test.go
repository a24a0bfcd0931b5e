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

// fleet is a model of a workload: enough of its reconcile to see what the numbers lead to.
type fleet struct {
	strategy tally
	recreate bool // update pods by picking them for deletion, not in place
	pods     []*member
}

// member is a pod. One that is bad is never available until it is at the update
// revision.
type member struct{ isNew, specified, available, bad bool }

func (f *fleet) tally() tally {
	t := f.strategy
	for _, p := range f.pods {
		class := &t.Old
		if p.isNew {
			class = &t.New
		}
		class.add(1, false, p.specified, p.available)
	}
	return t
}

func (f *fleet) unavailable() (n int) {
	for _, p := range f.pods {
		if !p.available {
			n++
		}
	}
	return n
}

func (f *fleet) available() int { return len(f.pods) - f.unavailable() }

// reconcile does one scale step and, if that changed nothing, one update step.
// It returns whether it changed anything.
func (f *fleet) reconcile() bool {
	m := f.tally().diff()
	if m.ScaleUp > 0 {
		for i := range m.Create {
			f.pods = append(f.pods, &member{isNew: i >= m.CreateOld})
		}
		if m.Create > 0 {
			return true
		}
	}
	specified := f.pick(math.MaxInt32, func(p *member) bool { return p.specified && (m.ScaleUp == 0 || !p.available) })
	if len(specified) > 0 {
		return f.remove(specified) || f.update()
	}
	surplus := f.pick(m.ScaleDownOld, func(p *member) bool { return !p.isNew })
	surplus = append(surplus, f.pick(m.ScaleDown-m.ScaleDownOld, func(p *member) bool { return p.isNew })...)
	return f.remove(surplus) || f.update()
}

func (f *fleet) pick(n int32, ok func(*member) bool) (picked []*member) {
	for _, p := range f.pods {
		if int32(len(picked)) < n && ok(p) {
			picked = append(picked, p)
		}
	}
	return picked
}

// candidates makes members known to selectForDeletion and selectForUpdate.
func candidates(members []*member) ([]*pod, map[*pod]*member) {
	list, byPod := make([]*pod, len(members)), make(map[*pod]*member)
	for i, p := range members {
		list[i] = newCandidate("", p.available, p.available)
		byPod[list[i]] = p
	}
	return list, byPod
}

func (f *fleet) remove(chosen []*member) bool {
	list, byPod := candidates(chosen)
	now := f.tally().selectForDeletion(list).now
	gone := make(map[*member]bool)
	for _, pod := range now {
		gone[byPod[pod]] = true
	}
	f.pods = f.pick(math.MaxInt32, func(p *member) bool { return !gone[p] })
	return len(now) > 0
}

func (f *fleet) update() bool {
	tally := f.tally()
	toNew := tally.diff().Update >= 0
	list, byPod := candidates(f.pick(math.MaxInt32, func(p *member) bool { return p.isNew != toNew }))
	unavailable := unavailablePods{All: int32(f.unavailable())}
	for _, p := range f.pods {
		if p.isNew == toNew && !p.available {
			unavailable.AtTarget++
		}
	}
	move := tally.selectForUpdate(list, unavailable).now
	changed := false
	for _, pod := range move {
		p := byPod[pod]
		if f.recreate {
			changed = changed || !p.specified
			p.specified = true
		} else {
			changed = true
			p.isNew, p.available = toNew, false
		}
	}
	return changed
}

func TestRolloutKeepsServiceAndEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{strategy: drawStrategy(t), recreate: rapid.Bool().Draw(t, "recreate")}
		s := &f.strategy
		badImage := rapid.Bool().Draw(t, "bad image") // of the current revision
		if badImage {
			s.Partition = 0
		}
		s.ScaleMaxUnavailable = max(s.ScaleMaxUnavailable, 1)
		if s.MaxSurge == 0 {
			s.MaxUnavailable = max(s.MaxUnavailable, 1) // the validation asks for one of them
		}
		for range rapid.IntRange(0, 80).Draw(t, "pods") {
			f.pods = append(f.pods, &member{
				isNew:     rapid.Bool().Draw(t, "new") && !s.SameRevision,
				specified: rapid.IntRange(0, 9).Draw(t, "marked") == 0,
				available: rapid.IntRange(0, 4).Draw(t, "unavailable") > 0,
				bad:       badImage && rapid.Bool().Draw(t, "bad"),
			})
		}
		for range 40 { // at random pods become available, stay as they are, or break
			f.step(t)
			for _, p := range f.pods {
				if p.bad && !p.isNew {
					p.available = false
					continue
				}
				switch rapid.IntRange(0, 9).Draw(t, "fate") {
				case 0:
					p.available = false
				case 1, 2, 3, 4, 5:
					p.available = true
				}
			}
		}
		for range 600 { // without trouble it comes to an end
			changed := f.step(t)
			for _, p := range f.pods {
				works := p.isNew || !p.bad
				changed = changed || p.available != works
				p.available = works
			}
			if !changed {
				break
			}
		}
		if tally := f.tally(); tally.diff() != (Diff{}) || len(f.pods) != int(s.Replicas) || tally.Old.Total > s.Partition {
			t.Fatalf("it ends at %+v, which asks for %+v", tally, tally.diff())
		}
	})
}

// step reconciles once and checks that service went on.
func (f *fleet) step(t *rapid.T) bool {
	s, before, pods := f.strategy, f.available(), len(f.pods)
	changed := f.reconcile()
	if floor := min(before, int(s.Replicas)-int(min(s.MaxUnavailable, s.Replicas))); f.available() < floor {
		t.Fatalf("available pods fell from %d to %d, below replicas %d - maxUnavailable %d", before, f.available(), s.Replicas, s.MaxUnavailable)
	}
	if ceiling := max(pods, int(s.Replicas)+int(min(s.MaxSurge, 1000))); len(f.pods) > ceiling {
		t.Fatalf("pods rose from %d to %d, above replicas %d + maxSurge %d", pods, len(f.pods), s.Replicas, s.MaxSurge)
	}
	return changed
}
