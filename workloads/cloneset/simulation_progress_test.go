// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulationFindsBugsOfProgress plants bugs in what consumers read, and in OnDelete.
func TestSimulationFindsBugsOfProgress(t *testing.T) {
	plant := simulation.Plant(t, simulated)
	plant("OnDelete is taken for ReCreate", invariants.Needless, 25, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		if spec.UpdateStrategy.Type == v1alpha1.OnDeleteCloneSetUpdateStrategyType {
			spec.UpdateStrategy.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
		}
	}))
	plant("the progress deadline does not start anew with progress", invariants.Status, 7, inPlan(keepDeadline))
	plant("a status counts pods that could not be created", invariants.Status, 0, bug{Reconciler: func(r Reconciler) {
		controller.KindOf(r).Apply = func(ctx context.Context, s *Snapshot, p *Plan) (time.Duration, error) {
			a := controller.KindOf(r).Self.(*reconciler).begin(s, p)
			if settled, err := a.WriteOrHold(ctx, a.planWithout); err != nil || !settled {
				return controller.StaleRetry, err
			}
			err := errors.Join(a.disownClaims(ctx), a.CreateClaims(ctx), a.applyPods(ctx), a.Report(ctx), a.prune(ctx))
			return a.RequeueAfter(), apply.WorthRetrying(err)
		}
	}})
	plant("the first status of a new generation misleads", invariants.Status, 43, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil {
			p.Status.ObservedGeneration = s.Set.Generation
		}
	}))
	plant("the status does not wait for a spec that is not reached", invariants.Status, 0, inStatus(func(status *v1alpha1.CloneSetStatus) { statuses.Reach(status) }))
}

// keepDeadline has the deadline run on if pods have been updated or become available.
func keepDeadline(s *Snapshot, p *Plan) {
	if p.Status == nil {
		return
	}
	before, after := statuses.Find(&s.Set.Status, v1alpha1.CloneSetConditionProgressing), statuses.Find(p.Status, v1alpha1.CloneSetConditionProgressing)
	if before != nil && after != nil && after.Reason == v1alpha1.CloneSetUpdated {
		after.LastUpdateTime = before.LastUpdateTime
	}
}
