// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Plan is what to do about a StatefulSet now. The same Snapshot gives the same Plan.
//
// If pods are deleted to scale, its Stages.Otherwise holds the update that goes
// on when the API server refuses all of that.
type Plan struct {
	rollout.Plan

	// ResizeClaims lists the claims that grow, in order.
	ResizeClaims []ClaimResize
	// RefusedClaims says of claims why they cannot get what their claim template asks for. They are among the Problems.
	RefusedClaims []error
	// LargerClaims names the claims that stay larger than their claim template, which asks for less since the spec was changed. (STS-45)
	LargerClaims []string

	// Status is the status to write, or nil when the present one stands.
	Status *v1beta1.StatefulSetStatus
}

// NewPlan decides what to do about a StatefulSet. It never fails: what is
// wrong with the StatefulSet or its pods is listed in Plan.Problems. So are
// objects of the Snapshot that do not belong to the StatefulSet, which are left
// out. A Snapshot without a Set or a time gives an empty plan with that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &planner{Snapshot: s, plan: &Plan{}}
	p.Planner = podplan.NewPlanner(&p.plan.Plan, failedUpdate)
	if err := p.checkInput(); err != nil {
		p.UpdateProblem(err)
		return p.plan
	}
	if err := p.read(); err != nil {
		p.Unreadable = err
		p.UpdateProblem(err)
		p.planStatus()
		return p.plan
	}
	p.observePods()
	if !p.PlanRevisions(p.revisionLabels) {
		p.planStatus()
		return p.plan
	}
	p.classify()
	p.unfit = p.Selects(&p.Set.Spec.Template)
	p.planReach()
	if p.Set.DeletionTimestamp == nil { // (STS-26)
		p.planAdoption()
		p.planClaims()
		p.planScale()
		p.planRefresh()
		p.planUpdate()
		p.planLarger()
		p.PlanRefusals()
	}
	p.finishPatches()
	p.planHeld()
	p.planStatus()
	if p.Set.DeletionTimestamp == nil { // (STS-26)
		p.planPreDownload()
		p.PlanHistory(p.Set.Spec.RevisionHistoryLimit, p.settledCurrent(), p.allPods)
	}
	return p.plan
}

// planAdoption adopts revisions without a controller, unlike a CloneSet, which
// uses them as they are.
func (p *planner) planAdoption() {
	for _, r := range p.Revisions {
		if metav1.GetControllerOfNoCopy(r) == nil && r.DeletionTimestamp == nil {
			p.plan.Revisions.Adopt = append(p.plan.Revisions.Adopt, r)
		}
	}
}

// settledCurrent is the current revision as the status names it from now on. No event follows the reconcile that ends an update.
// So that reconcile does what is to be done after an update.
func (p *planner) settledCurrent() *appsv1.ControllerRevision {
	if s := p.plan.Status; s != nil && s.CurrentRevision == p.plan.Revisions.Update.Name {
		return p.plan.Revisions.Update
	}
	return p.plan.Revisions.Current
}

// allPods yields the pods that have a name of the StatefulSet's.
func (p *planner) allPods(yield func(*corev1.Pod) bool) {
	for _, pods := range [][]*pod{p.pods, p.others} {
		for _, pod := range pods {
			if !yield(pod.Pod) {
				return
			}
		}
	}
}
