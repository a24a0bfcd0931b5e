// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
)

// planScale brings the number of pods to what is wanted. It takes the first of
// the following steps that changes anything: return pods to service that prepare for deletion,
// create pods, delete pods that have prepared, delete those marked for deletion, scale in.
// (CS-15 to CS-24)
func (p *planner) planScale() {
	if p.podsChanged { // pods are deleted that are none of the CloneSet's
		return
	}
	if p.planKeep(); p.podsChanged {
		return
	}
	if p.plan.Diff.ScaleUp > 0 {
		if p.planCreate(); p.podsChanged {
			p.waitForCreation()
			return
		}
	}
	p.planDelete()
}

// planDelete takes the steps that delete pods.
func (p *planner) planDelete() {
	if p.deletePrepared(); p.podsChanged {
		return
	}
	if p.deleteSpecified(); p.podsChanged {
		return
	}
	p.scaleIn()
}

// planKeep returns pods to service that prepare for their deletion, since more
// replicas are wanted again. (CS-15)
func (p *planner) planKeep() {
	leaving := 0
	for _, pod := range p.pods {
		if pod.specified || pod.preparingDelete {
			leaving++
		}
	}
	need := lifecycle.CancelNeeded(int(p.limits.replicas), len(p.pods), leaving)
	for _, pod := range p.pods {
		if need == 0 {
			return
		}
		if !pod.preparingDelete || pod.specified || !lifecycle.CancelAllowed(p.Set.Spec.Lifecycle) {
			continue
		}
		if p.Undelete(&pod.View) {
			p.podsChanged = true
			need--
		}
	}
}

// waitForCreation says why pods that are marked for deletion or prepared for it stay for now: no pod is
// deleted while others are created. (CS-17)
func (p *planner) waitForCreation() {
	reason := p.createFirst()
	for _, pod := range p.pods {
		if pod.specified || pod.preparingDelete {
			p.Wait(pod.Pod, reason)
		}
	}
}

func (p *planner) createFirst() *rollout.Reason {
	return &rollout.Reason{
		Rule: rollout.RuleCreateFirst, Observed: p.plan.Diff.ScaleUp,
		Message: fmt.Sprintf("replicas %d: no pod is deleted before the missing ones (%d) are created",
			p.limits.replicas, p.plan.Diff.ScaleUp),
	}
}

// deletePrepared deletes pods in PreparingDelete that no hook holds. (CS-21)
func (p *planner) deletePrepared() {
	for _, pod := range p.pods {
		if pod.preparingDelete {
			p.delete(pod, rollout.DeleteForScale)
		}
	}
}

// deleteSpecified deletes the pods marked for deletion: those that are not
// ready at once, the others within the budget. Ready ones also wait for those
// that are missing, whatever holds up their creation. (CS-17, CS-22)
func (p *planner) deleteSpecified() {
	var marked []*corev1.Pod
	var createFirst *rollout.Reason
	for _, pod := range p.pods {
		switch {
		case !pod.specified || pod.preparingDelete:
		case p.plan.Diff.ScaleUp > 0 && lifecycle.Available(pod.Pod, 0, p.Now):
			if createFirst == nil {
				createFirst = p.createFirst()
			}
			p.Wait(pod.Pod, createFirst)
		default:
			marked = append(marked, pod.Pod)
		}
	}
	p.deleteWithinBudget(marked)
}

// scaleIn deletes surplus pods, those of the old revision first. (CS-23)
func (p *planner) scaleIn() {
	d := p.plan.Diff
	if d.ScaleDown == 0 {
		return
	}
	if blocked := p.tally.ScaleDownBlocked(); blocked != nil {
		p.Wait(nil, blocked)
		return
	}
	var old, updated []*corev1.Pod
	for _, pod := range p.pods {
		if pod.Updated {
			updated = append(updated, pod.Pod)
		} else {
			old = append(old, pod.Pod)
		}
	}
	order := rollout.DeletionOptions{
		Available:   func(pod *corev1.Pod) bool { return p.byPod(pod).Available },
		Constraints: p.Set.Spec.Template.Spec.TopologySpreadConstraints,
		Topology:    func(node, key string) string { return p.NodeLabels[node][key] },
	}
	fromOld := min(int(d.ScaleDownOld), len(old))
	fromUpdated := min(int(d.ScaleDown)-fromOld, len(updated))
	surplus := slices.Concat(
		rollout.SortForDeletion(old, order)[:fromOld],
		rollout.SortForDeletion(updated, order)[:fromUpdated])
	p.deleteWithinBudget(surplus)
}

// deleteWithinBudget deletes pods that are not ready freely and ready ones
// while the budget lasts. (CS-22, CS-23)
func (p *planner) deleteWithinBudget(pods []*corev1.Pod) {
	chosen := make([]Candidate, len(pods))
	for i, pod := range pods {
		ready := lifecycle.Available(pod, 0, p.Now)
		chosen[i] = Candidate{Pod: pod, Available: ready, Settling: ready && !p.byPod(pod).Available}
	}
	now, waiting := p.tally.SelectForDeletion(chosen)
	for _, pod := range now {
		p.delete(p.byPod(pod), rollout.DeleteForScale)
	}
	p.plan.Waiting = append(p.plan.Waiting, waiting...)
}

// delete deletes a pod with its claims, or has its hook asked to prepare it. (CS-24)
func (p *planner) delete(pod *pod, why rollout.DeletionReason) {
	begun := p.Delete(&pod.View, rollout.PodDeletion{
		For: why, Unchanged: !pod.Available && !pod.preparingDelete, DeleteClaims: p.claims[instanceID(pod.Pod)]})
	p.podsChanged = p.podsChanged || begun && (pod.Deleted || !pod.preparingDelete)
}
