// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"math/rand/v2"
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
)

// TestSimulationRegressions plays histories in which bugs were found: the seed
// tells which, and in some of them users do often what shows the bug.
func TestSimulationRegressions(t *testing.T) {
	simulation.Replay(t, []simulation.Regression{
		{Found: "requests without end about a selector that matches no pod", Seed: 3, Workload: played(bug{}, earlier)},
		{Found: "an available pod deleted beside a marked one that was ready for a moment", Seed: 25, Workload: played(bug{Often: markYoungPods}, earlier)},
		{Found: "a pod prepared for its update and taken back in turns, without end", Seed: 103, Workload: played(bug{Often: edit("raisePartition")}, earlier)},
		{Found: "no pod created since those that the partition wants cannot be", Seed: 1882545954226233, Workload: played(bug{}, earlier)},
		{Found: "a pod that waits for its claim, which a user has deleted", Seed: 1882545954226276, Workload: played(bug{}, earlier)},
		{Found: "a claim deleted and made again in turns, while its pod is refused", Seed: 1882547051036796, Workload: played(bug{}, earlier)},
		{Found: "held-back pods at the update revision, where the cache of revisions was behind", Seed: 1882548472906583, Workload: played(bug{}, earlier)},
		{Found: "a new pod deleted that has the name of one to be deleted", Seed: 1882629830886872, Workload: played(bug{}, earlier)},
		{Found: "a prepared pod that waits for missing ones, which wait for it", Seed: 13, Workload: played(bug{Often: edit("raisePartition")}, earlier)},
		{Found: "serving pods taken at once under a surge, since they wait for minReadySeconds", Seed: 9, Workload: played(bug{Often: edit("surgeSlowly")}, everything)},
		{Found: "surge pods of a new template created while the update is paused", Seed: 0, Workload: played(bug{Often: edit("pauseWithSurge")}, everything)},
		{Found: "a container not waited for that came up while its next image was taken back", Seed: 95, Workload: starting(bug{})},
	})
}

// markYoungPods marks pods, which must be ready for a while to count as available.
func markYoungPods(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(3) > 0 {
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
		return
	}
	u.Edit(`{"spec":{"minReadySeconds":60,"replicas":4,"updateStrategy":{"maxUnavailable":1}}}`)
}

// edit has users make the edits of a list in testdata/users.txt.
func edit(list string) func(*simulation.User, *rand.Rand) {
	edits := simulation.ReadEdits(list)
	return func(u *simulation.User, r *rand.Rand) { u.Edit(simulation.AnyEdit(r, edits)) }
}
