// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"math/rand/v2"
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationOfMany is TestSimulation with 24 nodes, which users relabel all at once. (BJ-32)
func TestSimulationOfMany(t *testing.T) {
	simulation.Check(t, many(bug{}))
}

// TestSimulationFindsBugsOfMany plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfMany(t *testing.T) {
	simulation.FindBugs(t, []simulation.Bug{
		{Name: "what was deleted before does not count", Breaks: invariants.Availability, Workload: many(misreading(func(s *Snapshot) { s.Deleted = nil }))},
	})
}

// many is played with many nodes.
func many(b bug) *simulation.Subject {
	w := simulated(b)
	w.Nodes = 24
	create := w.Create
	w.Create = func(r *rand.Rand) simulation.Object {
		job := create(r)
		simulation.Merge(job, `{"spec":{"parallelism":null,"paused":false,"completionPolicy":{"type":"Never"},"failurePolicy":{"type":"Continue"},"template":{"spec":{"nodeSelector":{"zone":"a"},"tolerations":[{"operator":"Exists"}]}}}}`)
		return job
	}
	w.Act = b.Act(func(u *simulation.User, r *rand.Rand) {
		switch r.IntN(4) {
		case 0, 1:
			zone := []string{"a", "b"}[r.IntN(2)]
			for _, node := range u.Objects("nodes") {
				u.LabelNode(node.GetName(), map[string]any{simulation.Zone: zone})
			}
		case 2:
			u.Edit(`{"spec":{"parallelism":null,"paused":false}}`)
		default:
			act(u, r)
		}
	})
	return w
}
