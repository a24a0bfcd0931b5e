// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Plan is what to do about a CloneSet now. The same Snapshot gives the same Plan.
//
// If pods are created or deleted to scale, its Stages.Otherwise holds the
// update that goes on when the API server refuses all of that.
type Plan struct {
	rollout.Plan

	// Diff holds the numbers that the rest follows from.
	Diff Diff

	// DeleteClaims lists claims to delete whose pods are gone.
	DeleteClaims []*corev1.PersistentVolumeClaim

	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.CloneSetStatus
	// PodsToDelete is spec.scaleStrategy.podsToDelete without the names of
	// pods that are gone. It is written when PrunePodsToDelete is true.
	PodsToDelete      []string
	PrunePodsToDelete bool
}

// NewPlan decides what to do about a CloneSet. It never fails: what is wrong with the CloneSet or its pods is listed in
// Plan.Problems. Objects of the Snapshot that do not belong to the CloneSet are listed there too, and left out. A Snapshot
// without a Set or a time gives an empty plan with that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &planner{Snapshot: s, plan: &Plan{}}
	p.Planner = podplan.NewPlanner(&p.plan.Plan, failedUpdate)
	if err := p.checkInput(); err != nil {
		p.UpdateProblem(err)
		return p.plan
	}
	if err := p.readSpec(); err != nil {
		p.UpdateProblem(err)
		p.Unreadable = err
		p.planStatus()
		return p.plan
	}
	p.classify()
	if !p.PlanRevisions(p.revisionLabels) {
		p.planStatus()
		return p.plan
	}
	p.findUpdated()
	if p.Set.DeletionTimestamp != nil { // the rest is for the garbage collector (CS-3)
		p.planStatus()
		return p.plan
	}
	p.planDiff()
	target := p.planTarget()
	p.claims = p.planClaims()
	scales := p.planRelease() || p.planScale()
	p.planRefresh(target)
	recreates := p.planUpdate(target, scales)
	if scales || recreates {
		p.planOtherwise(target)
	}
	p.PlanRefusals()
	p.planLackingClaims()
	p.planPreDownload()
	p.finishPatches()
	p.planHeld()
	p.planStatus()
	p.planPruning()
	// The current revision advances before the last pods are ready, so that there is
	// an event yet by which the former one is dropped.
	p.PlanHistory(p.Set.Spec.RevisionHistoryLimit, p.plan.Revisions.Current, p.ownPods)
	return p.plan
}
