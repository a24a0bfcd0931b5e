// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationOfMany is TestSimulation with twelve nodes and up to thirty pods, whose templates require something of nodes themselves. (WS-10,
// WS-13, WS-36)
func TestSimulationOfMany(t *testing.T) {
	simulation.Check(t, many(bug{}), many(bug{of: ofDeployment, together: true}))
}

// TestSimulationFindsBugsOfMany plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfMany(t *testing.T) {
	plant := simulation.Plant(t, many)
	plant("all pods move at once", invariants.Availability, 7, ofADeployment(inPlan(func(_ *Snapshot, p *Plan) {
		if p.Computed != nil {
			p.MayDelete = len(p.Deletions)
		}
	})))
	plant("what has moved before does not count", invariants.Availability, 7, ofADeployment(inSnapshot(func(s *Snapshot) { s.Moved = nil })))
	plant("what a pod requires of its node itself is lost", invariants.Placement, 0, bug{losesTerms: true})
}

// many is played with many nodes and pods.
func many(b bug) *simulation.Subject {
	w := simulated(&b)
	w.Nodes = 12
	w.Act = b.controller.Act(func(u *simulation.User, r *rand.Rand) {
		switch r.IntN(6) {
		case 0, 1:
			u.Edit(larger(anySubsets(r)))
		case 2:
			u.Edit(`{"spec":{"scheduleStrategy":{"type":"Adaptive","adaptive":{"rescheduleCriticalSeconds":5}}}}`)
		default:
			act(u, r)
		}
	})
	beside := w.Beside[0]
	create, some, push := beside.Create, beside.Act, beside.Push
	beside.Create = func(r *rand.Rand) simulation.Object {
		object := create(r)
		simulation.Merge(object, anyScale(r))
		return object
	}
	beside.Act = func(u *simulation.User, r *rand.Rand) {
		switch r.IntN(6) {
		case 0:
			u.Edit(anyScale(r))
		case 1, 2:
			u.Edit(anyAffinity(r))
		default:
			some(u, r)
		}
	}
	beside.Push = func(u *simulation.User) {
		u.Edit(`{"spec":{"template":{"spec":{"affinity":null}}}}`)
		push(u)
	}
	return w
}

var anyScale = simulation.Pick(`{"spec":{"replicas":%v}}`, 12, 18, 24, 30)

// anyAffinity is what a template requires of nodes.
var anyAffinity = simulation.ReadEdits("affinity")[0]

var limits = regexp.MustCompile(`("maxReplicas":)(\d+)`)

// larger has subsets take six times as many pods.
func larger(subsets string) string {
	return limits.ReplaceAllStringFunc(subsets, func(limit string) string {
		parts := limits.FindStringSubmatch(limit)
		n, _ := strconv.Atoi(parts[2])
		return parts[1] + strconv.Itoa(6*n)
	})
}
