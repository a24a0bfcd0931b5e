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
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return later(b, everything) })
	lacks := func(lack func(*Features)) bug { return bug{Options: func(o *Options) { lack(&o.Features) }} }
	plant("CS-42: surge while paused", invariants.Surge, 1, lacks(func(f *Features) { f.PauseWithoutSurge = false }).While(markWhilePaused))
	plant("CS-44: no hash", invariants.Spec, 0, lacks(func(f *Features) { f.ClaimTemplateHash, f.RecreateForClaims = false, false }))
	plant("CS-45: claims change in place", invariants.Needless, 68, lacks(func(f *Features) { f.RecreateForClaims = false }))
	plant("CS-47: other reasons", invariants.Status, 1, lacks(func(f *Features) { f.ProgressReasons = false }))
}

// markWhilePaused marks pods that have to be replaced before they go, while the update is paused.
func markWhilePaused(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(2) > 0 {
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
		return
	}
	u.Edit(simulation.AnyEdit(r, simulation.ReadEdits("markWhilePaused")))
}
