// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationOfTwo plays histories in which another WorkloadSpread names the same workload. Admission refuses it, and it can be
// stored without. (WS-22)
func TestSimulationOfTwo(t *testing.T) {
	simulation.Check(t, two(&bug{}), two(&bug{deployment: true, together: true}))
}

// second is the other WorkloadSpread, which comes first by name.
var second = types.NamespacedName{Namespace: simulation.Web.Namespace, Name: "also"}

// two is played with two WorkloadSpreads of one workload, whose controllers have to settle.
func two(bug *bug) *simulation.Subject {
	w := simulated(bug)
	start := w.Start
	var target v1alpha1.TargetReference
	if target = cloneSet; bug.deployment {
		target = deployment
	}
	w.Start = func(p *simulation.Process) (simulation.Controller, error) {
		c, err := start(p)
		first := c.Reconcile
		c.Reconcile = func(ctx context.Context, _ types.NamespacedName) (time.Duration, error) {
			after, err := first(ctx, simulation.Web)
			other, failed := first(ctx, second)
			if other > 0 && (after == 0 || other < after) {
				after = other
			}
			return after, errors.Join(err, failed)
		}
		return c, err
	}
	w.Act = func(u *simulation.User, r *rand.Rand) {
		switch r.IntN(8) {
		case 0:
			ws := anySpread(r)
			ws.Name, ws.Spec.TargetReference = second.Name, &target
			u.CreateObject(spreadResource.Name, ws)
		case 1:
			u.DeleteObject(spreadResource.Name, second.Name, metav1.DeletePropagationBackground)
		case 2:
			u.Patch(spreadResource.Name, second.Name, anySubsets(r))
		default:
			act(u, r)
		}
	}
	w.Judge = func(uint64) simulation.Judge {
		return simulation.Judge{
			Write:   func(*invariants.Write) []invariants.Violation { return nil },
			Settled: func(*invariants.State, bool) []invariants.Violation { return nil },
		}
	}
	return w
}
