// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"math/rand/v2"
	"testing"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationOfLater plays histories of a controller that does what OpenKruise 1.9 does, with all of its gates.
func TestSimulationOfLater(t *testing.T) {
	w := later(bug{}, everything)
	simulation.Check(t, w, simulation.Dying(w))
}

// later is played with the features of OpenKruise 1.9.
func later(bug bug, fields fields) *simulation.Subject {
	options := bug.Options
	bug.Options = func(o *Options) {
		f := FeaturesOf(podwright.Release19)
		f.PreparingUpdateAsUpdate, f.RecreateForClaims = true, true
		f.PartitionRollback, f.ExcludePreparingDelete, f.ShortHash = o.Features.PartitionRollback, o.Features.ExcludePreparingDelete, o.Features.ShortHash
		o.Features = f
		if options != nil {
			options(o)
		}
	}
	w := played(bug, fields)
	w.Judge = judgedBy(func(f *invariants.CloneSetFeatures) {
		f.PauseWithoutSurge, f.PreparingUpdateAsUpdate, f.ClaimTemplateHash, f.RecreateForClaims, f.ProgressReasons = true, true, true, true, true
	})
	return w
}

// TestSimulationFindsBugsOfLater plants bugs, each of which a few seeds must find: a controller that lacks one of the features.
func TestSimulationFindsBugsOfLater(t *testing.T) {
	var bugs []simulation.Bug
	for _, b := range []struct {
		name   string
		breaks invariants.Invariant
		seed   uint64
		lacks  func(*Features)
		often  func(*simulation.User, *rand.Rand)
	}{
		{"CS-42: surge while paused", invariants.Surge, 1, func(f *Features) { f.PauseWithoutSurge = false }, markWhilePaused},
		{"CS-44: no hash", invariants.Spec, 0, func(f *Features) { f.ClaimTemplateHash, f.RecreateForClaims = false, false }, nil},
		{"CS-45: claims change in place", invariants.Needless, 68, func(f *Features) { f.RecreateForClaims = false }, nil},
		{"CS-47: other reasons", invariants.Status, 1, func(f *Features) { f.ProgressReasons = false }, nil},
	} {
		workload := later(bug{Options: func(o *Options) { b.lacks(&o.Features) }, Often: b.often}, everything)
		bugs = append(bugs, simulation.Bug{Name: b.name, Breaks: b.breaks, First: b.seed, Workload: workload})
	}
	simulation.FindBugs(t, bugs)
}

// markWhilePaused marks pods that have to be replaced before they go, while the update is paused.
func markWhilePaused(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(2) > 0 {
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
		return
	}
	u.Edit(simulation.AnyEdit(r, []simulation.Edit{
		simulation.Pick(`{"spec":{"replicas":%v,"updateStrategy":{"type":"ReCreate","maxSurge":2,"maxUnavailable":0,"paused":true}}}`, 2, 3),
		simulation.Pick(`{"spec":{"updateStrategy":{"paused":%v}}}`, true, true, false),
	}))
}
