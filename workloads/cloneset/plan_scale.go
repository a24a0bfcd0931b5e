// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
)

// planScale brings the number of pods to what is wanted. It takes the first of five steps that changes anything. It returns pods
// to service that prepare for deletion, or creates pods. Otherwise it deletes pods that have prepared, deletes those marked for
// deletion, or scales in. It returns whether a step changes anything. (CS-15 to CS-24)
func (p *planner) planScale() (scales bool) {
	if p.planKeep() {
		return true
	}
	if p.plan.Diff.ScaleUp > 0 && p.planCreate() {
		p.waitForCreation()
		return true
	}
	return p.planDelete()
}

// planDelete takes the first of the steps that deletes pods, and returns whether there is one.
func (p *planner) planDelete() (deletes bool) {
	return p.deletePrepared() || p.deleteSpecified() || p.scaleIn()
}

// planKeep returns pods to service that prepare for their deletion, since more
// replicas are wanted again. It returns whether there are any. (CS-15)
func (p *planner) planKeep() (keeps bool) {
	need := lifecycle.CancelNeeded(int(p.limits.replicas), len(p.pods), int(p.tally.specified()+p.tally.preparingDelete()))
	for _, pod := range p.pods {
		if need == 0 {
			break
		}
		if !pod.preparingDelete || pod.specified || !lifecycle.CancelAllowed(p.Set.Spec.Lifecycle) {
			continue
		}
		if p.Undelete(&pod.View) {
			keeps = true
			need--
		}
	}
	return keeps
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
func (p *planner) deletePrepared() (deletes bool) {
	if p.tally.preparingDelete() == 0 {
		return false
	}
	for _, pod := range p.pods {
		if pod.preparingDelete && p.delete(pod, rollout.DeleteForScale) {
			deletes = true
		}
	}
	return deletes
}

// deleteSpecified deletes the pods marked for deletion: those that are not
// ready at once, the others within the budget. Ready ones also wait for those
// that are missing, whatever holds up their creation. (CS-17, CS-22)
func (p *planner) deleteSpecified() (deletes bool) {
	if p.tally.specified() == 0 {
		return false
	}
	var marked []*pod
	var createFirst *rollout.Reason
	for _, pod := range p.pods {
		switch {
		case !pod.specified || pod.preparingDelete:
		case p.plan.Diff.ScaleUp > 0 && pod.Serves():
			if createFirst == nil {
				createFirst = p.createFirst()
			}
			p.Wait(pod.Pod, createFirst)
		default:
			marked = append(marked, pod)
		}
	}
	return p.deleteWithinBudget(marked)
}

// scaleIn deletes surplus pods, those of the old revision first. (CS-23)
func (p *planner) scaleIn() (deletes bool) {
	d := p.plan.Diff
	if d.ScaleDown == 0 {
		return false
	}
	if blocked := p.scaling.scaleDownBlocked(); blocked != nil {
		p.Wait(nil, blocked)
		return false
	}
	var old, updated []*pod
	for _, pod := range p.pods {
		if p.updatedForScale(pod) {
			updated = append(updated, pod)
		} else {
			old = append(old, pod)
		}
	}
	fromOld := min(int(d.ScaleDownOld), len(old))
	fromUpdated := min(int(d.ScaleDown)-fromOld, len(updated))
	return p.deleteWithinBudget(slices.Concat(p.firstToGo(old, fromOld), p.firstToGo(updated, fromUpdated)))
}

// firstToGo returns n pods of a revision that would be missed least. (CS-25)
func (p *planner) firstToGo(pods []*pod, n int) []*pod {
	if n == 0 {
		return nil
	}
	available := func(pod *pod) bool { return pod.Available }
	return rollout.SortForDeletionOf(pods, (*pod).shared, available, rollout.DeletionOptions{
		Constraints: p.Set.Spec.Template.Spec.TopologySpreadConstraints,
		Topology:    func(node, key string) string { return p.NodeLabels[node][key] },
	})[:n]
}

// deleteWithinBudget deletes pods that are not ready freely and ready ones
// while the budget lasts. (CS-22, CS-23)
func (p *planner) deleteWithinBudget(pods []*pod) (deletes bool) {
	chosen := p.scaling.selectForDeletion(pods)
	p.Stage.Delete = slices.Grow(p.Stage.Delete, len(chosen.now))
	for _, pod := range chosen.now {
		deletes = p.delete(pod, rollout.DeleteForScale) || deletes
	}
	p.ListWaits(chosen.waits)
	return deletes
}

// delete deletes a pod with its claims, or has its hook asked to prepare it. It returns
// whether that changes anything. (CS-24)
func (p *planner) delete(pod *pod, why rollout.DeletionReason) bool {
	begun := p.Delete(&pod.View, rollout.PodDeletion{
		For: why, Unchanged: !pod.Available && !pod.preparingDelete, DeleteClaims: p.claims.ofPod(pod.Pod)})
	return begun && (pod.Deleted || !pod.preparingDelete)
}
