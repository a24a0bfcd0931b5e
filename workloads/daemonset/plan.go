// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Plan is what to do about a DaemonSet now. The same Snapshot gives the same Plan.
type Plan struct {
	rollout.Plan

	// Rollout holds the numbers that the update follows from.
	Rollout Rollout
	// WaitingNodes lists the nodes that should get a pod and do not, each with the
	// reason.
	WaitingNodes []rollout.Wait
	// SelectsAll says that the selector is empty: nothing is done.
	SelectsAll bool

	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.DaemonSetStatus
}

// NewPlan decides what to do about a DaemonSet. It never fails: what is wrong with the DaemonSet or its pods is listed in
// Plan.Problems. Objects of the Snapshot that do not belong to the DaemonSet are listed there too, and left out. A Snapshot
// without a Set or a time gives an empty plan with that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &planner{Snapshot: s, plan: &Plan{}}
	p.Planner = podplan.NewPlanner(&p.plan.Plan, failedUpdate)
	if err := p.checkInput(); err != nil {
		p.UpdateProblem(err)
		return p.plan
	}
	if p.Set.DeletionTimestamp != nil { // the rest is for the garbage collector (DS-1)
		return p.plan
	}
	if err := p.read(); err != nil {
		p.Unreadable = err
		p.UpdateProblem(err)
		p.planStatus()
		return p.plan
	}
	if !p.planRevisions() {
		p.planStatus()
		return p.plan
	}
	p.classify()
	p.unfit = p.Selects(&p.Set.Spec.Template)
	p.planAdoption()
	p.survey()
	p.planPods()
	p.planRefresh()
	p.planUpdate()
	p.PlanRefusals()
	p.finishPatches()
	p.planPreDownload()
	p.planHeld()
	p.planStatus()
	p.planHistory()
	return p.plan
}

// planAdoption adopts revisions without a controller. (DS-CR4)
func (p *planner) planAdoption() {
	for _, r := range p.Revisions {
		if metav1.GetControllerOfNoCopy(r) == nil && r.DeletionTimestamp == nil {
			p.plan.Revisions.Adopt = append(p.plan.Revisions.Adopt, r)
		}
	}
}

// allPods yields the pods that are the DaemonSet's or become so, and those it releases.
func (p *planner) allPods(yield func(*corev1.Pod) bool) {
	for _, pods := range [][]*pod{p.pods, p.others} {
		for _, pod := range pods {
			if !yield(pod.Pod) {
				return
			}
		}
	}
}
