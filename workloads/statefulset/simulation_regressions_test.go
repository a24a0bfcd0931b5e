// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"math/rand/v2"
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
)

// TestSimulationRegressions plays histories in which bugs were found: the seed
// tells which, and in some of them users do often what shows the bug.
func TestSimulationRegressions(t *testing.T) {
	simulation.Replay(t, []simulation.Regression{
		{Found: "a claim that goes with a former set of the same name is used", Seed: 59, Workload: simulated(bug{})},
		{Found: "a pod prepared for its update and taken back in turns, without end", Seed: 12, Workload: simulated(bug{Often: edit("holdUpdates")})},
		{Found: "a pod that serves is taken while another is down elsewhere", Seed: 0, Workload: simulated(bug{Often: edit("editAmid")})},
		{Found: "the same, for a hook", Seed: 7, Workload: simulated(bug{Often: edit("editAmid")})},
		{Found: "an update in place gives all pods one identity", Seed: 1, Workload: simulated(bug{Often: edit("nameInTemplate")})},
		{Found: "a claim that fails on its way to a former size holds up the pods beside it", Seed: 7229, Workload: growing(bug{})},
		{Found: "a second manager has a claim ask for less than the first", Seed: 6504, Workload: growing(bug{})},
	})
}

// edit has users make the edits of a list in testdata/users.txt.
func edit(list string) func(*simulation.User, *rand.Rand) {
	edits := simulation.ReadEdits(list)
	return func(u *simulation.User, r *rand.Rand) { u.Edit(simulation.AnyEdit(r, edits)) }
}
