// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"math/rand/v2"
	"testing"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
)

// laterFeatures switches on what the releases after 1.4 of OpenKruise added.
var laterFeatures = func() Features {
	f := FeaturesOf(podwright.Release19)
	f.StartOrdinal, f.PreparingUpdateAsUpdate = true, true
	return f
}()

// laterRules are the same for the judge.
var laterRules = invariants.StatefulSetFeatures{StartOrdinal: true, PartitionCountsPods: true, UpdateUnavailable: true, SpecifiedDelete: true,
	PreNormal: true, PreparingUpdateAsUpdate: true, KeepClaimLabels: true}

// TestSimulationOfLaterReleases has users edit what later releases added, too, and controllers that do as those releases.
func TestSimulationOfLaterReleases(t *testing.T) { simulation.Check(t, later(bug{})) }

// later are histories in which users edit what later releases added, too.
func later(b bug) *simulation.Subject {
	w := simulated(b)
	w.Start = planted.Start(tested, b, simulatedOptions(laterFeatures))
	w.Create = func(r *rand.Rand) simulation.Object {
		set := anySet(r)
		for range r.IntN(3) {
			simulation.Merge(set, simulation.AnyEdit(r, laterEdits))
		}
		return set
	}
	w.Act = b.Act(func(u *simulation.User, r *rand.Rand) {
		pod := u.AnyPod(r)
		switch n := r.IntN(9); {
		case n < 2:
			u.Edit(simulation.AnyEdit(r, laterEdits))
		case n == 2:
			u.Err(r, laterMistakes)
		case n == 3 && pod != nil:
			u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
		default:
			act(u, r)
		}
	})
	w.Push = func(u *simulation.User) { push(u, laterRules) }
	w.Judge = judgedBy(laterRules)
	return w
}

// laterEdits are what users change of the fields that are new.
var laterEdits = simulation.ReadEdits("laterEdits")

// laterMistakes are what only a webhook would refuse of them.
var laterMistakes = simulation.ReadMistakes("laterMistakes")
