// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// target is what pods are updated to.
type target struct {
	revision *appsv1.ControllerRevision
	back     bool  // it is the current revision: the partition was raised
	unfit    error // why it can have no pods; nil if none are to be updated
}

// planTarget finds out what pods are updated to.
func (p *planner) planTarget() target {
	if p.plan.Diff.Update == 0 {
		return target{revision: p.plan.Revisions.Update}
	}
	to := target{revision: p.plan.Revisions.Update, back: p.plan.Diff.Update < 0}
	if to.back {
		to.revision = p.plan.Revisions.Current
	}
	template, err := p.templateOf(to.revision)
	if err != nil {
		to.unfit = fmt.Errorf("move pods back to revision %s: %w; delete it, or lower the partition", to.revision.Name, err)
	} else if err := p.Selects(template); err != nil {
		to.unfit = fmt.Errorf("update pods to revision %s: %w", to.revision.Name, err)
	}
	return to
}

// planUpdate updates pods to the update revision or, when the partition was
// raised, back to the current one. If the scale step changes pods, those that are to be updated wait for that.
// It returns whether it recreates any. (CS-27 to CS-34, CS-37)
func (p *planner) planUpdate(to target, scales bool) (recreates bool) {
	if !scales {
		recreates = p.replaceLost(to)
	}
	if p.plan.Diff.Update == 0 && p.tally.Old.Total == 0 {
		return recreates
	}
	candidates := p.updateCandidates(to)
	chosen, err := p.selectUpdates(candidates, to, scales || recreates)
	p.UpdateProblem(err)
	staying := p.scaling
	for _, pod := range chosen.now {
		recreates = p.update(pod, to, &staying) || recreates
	}
	p.ListWaits(chosen.waits)
	return recreates
}

// planOtherwise plans what goes on if the API server refuses all that the scale step plans, and all recreations. Those are the
// steps that follow the scale step, as if it had planned nothing.
func (p *planner) planOtherwise(to target) {
	p.PlanOtherwise(func() {
		if len(p.plan.Create) > 0 && p.planDelete() {
			return
		}
		if !p.Set.Spec.UpdateStrategy.Paused && p.plan.Revisions.Refused == nil {
			p.planUpdate(to, false)
		}
	})
}

// selectUpdates says which of the candidates are updated now, and why the others wait. It changes nothing. The error
// is what is wrong with the revision or the strategy.
func (p *planner) selectUpdates(candidates []*pod, to target, afterScale bool) (selection, error) {
	strategy := &p.Set.Spec.UpdateStrategy
	switch {
	case p.plan.Revisions.Refused != nil:
		return allWait(candidates, p.NoRevision()), nil
	case p.onDelete() && p.tally.Old.Total > p.limits.partition:
		return allWait(candidates, &rollout.Reason{Rule: rollout.RuleOnDelete, Message: "updateStrategy.type OnDelete: the pod is updated when a user deletes it"}), nil
	case afterScale:
		return allWait(candidates, &rollout.Reason{
			Rule: rollout.RuleScaleFirst, Message: "pods are created or deleted first; the update goes on afterwards"}), nil
	case strategy.Paused:
		return allWait(candidates, &rollout.Reason{Rule: rollout.RulePaused, Message: "updateStrategy.paused is true"}), nil
	case to.unfit != nil:
		return allWait(candidates, &rollout.Reason{Rule: rollout.RuleRevision, Message: to.unfit.Error()}), to.unfit
	}
	if p.plan.Diff.Update != 0 { // otherwise all wait for the same reason
		var err error
		candidates, err = rollout.SortForUpdateOf(candidates, (*pod).shared, rollout.UpdateOptions{
			Priority: strategy.PriorityStrategy, Scatter: strategy.ScatterStrategy, All: p.allPods(), KeepOrder: p.Features.KeepOrder,
			NonePreparing: !slices.ContainsFunc(candidates, (*pod).prepared)})
		if err != nil {
			return selection{}, fmt.Errorf("spec.updateStrategy.priorityStrategy: %w", err)
		}
	}
	candidates = rollout.RefusedLast(&p.Refused, candidates, (*pod).shared)
	return p.tally.selectForUpdate(candidates, p.unavailable(to)), nil
}

// allWait is the selection of none.
func allWait(pods []*pod, reason *rollout.Reason) (all selection) {
	all.waits = make([]rollout.Wait, len(pods))
	for i, pod := range pods {
		all.waits[i] = pod.Waits(reason)
	}
	return all
}

// updateCandidates are the pods at the other revision that may be updated. It leaves out pods that are about to be deleted or
// within a grace period. It also leaves out pods that must not be recreated and cannot be updated otherwise. What is left out
// here takes no place in the selection from others, which a StatefulSet goes through in order. (CS-23, CS-27)
func (p *planner) updateCandidates(to target) []*pod {
	candidates := make([]*pod, 0, len(p.pods))
	for _, pod := range p.pods {
		if pod.Updated != to.back || pod.preparingDelete || pod.Deleted || pod.InGrace() {
			continue
		}
		if p.Workload.InPlace.Only {
			if update, err := p.InPlace(&pod.View, to.revision); update == nil {
				p.Wait(pod.Pod, p.Forbidden(&pod.View, err))
				continue
			}
		}
		if p.awaitsNode(pod, to) {
			continue
		}
		candidates = append(candidates, pod)
	}
	return candidates
}

func (p *planner) allPods() []*corev1.Pod {
	if len(p.Set.Spec.UpdateStrategy.ScatterStrategy) == 0 {
		return nil
	}
	all := make([]*corev1.Pod, len(p.pods))
	for i, pod := range p.pods {
		all[i] = pod.Pod
	}
	return all
}

// unavailable counts the unavailable pods, and those of them at the target, without those that have substitutes.
func (p *planner) unavailable(to target) (n unavailablePods) {
	for _, pod := range p.pods {
		if pod.Available && !pod.preparingDelete || pod.Substituted() {
			continue
		}
		n.All++
		if pod.Updated != to.back {
			n.AtTarget++
		}
	}
	return n
}

// update updates one pod. staying are the pods that are not recreated. It returns whether this one is. (CS-32, CS-33)
func (p *planner) update(pod *pod, to target, staying *tally) (recreates bool) {
	if p.RefreshFirst(&pod.View) {
		return false
	}
	pod.Otherwise = p.InOtherwise()
	if update, _ := p.InPlace(&pod.View, to.revision); update != nil && !p.lost(pod) {
		p.UpdateInPlace(&pod.View, update, to.revision)
		return false
	}
	if pod.Otherwise && len(p.Stage.Delete) >= int(p.plan.Diff.UpdateMaxUnavailable) {
		return false // it is not known when it could be created again
	}
	if to.revision == p.plan.Revisions.Update && !p.makesRoom(pod, staying) {
		p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleScaleFirst,
			Message: "pods marked for deletion are replaced first, by pods of the current revision: recreated now, it would be one of them again"})
		return false
	}
	return p.recreate(pod)
}

// makesRoom tells whether an old pod that is recreated, after those before it,
// comes back at the update revision. If so it stays no longer. (CS-33)
func (p *planner) makesRoom(pod *pod, staying *tally) bool {
	without := *staying
	class := &without.Old
	if p.updatedForScale(pod) {
		class = &without.New
	}
	class.add(-1, pod.preparingDelete, pod.specified, pod.Available)
	if without.lacksOld() {
		return false
	}
	*staying = without
	return true
}

// recreate deletes a pod, to be created again at the revision that is missing
// by then. A pod that its preDelete hook holds is marked for
// deletion, so that it is not taken back. (CS-33)
func (p *planner) recreate(pod *pod) bool {
	changes := p.delete(pod, rollout.DeleteForUpdate)
	if !pod.Deleted {
		pod.Change(rollout.PatchPrepare).SetLabel(lifecyclev1alpha1.SpecifiedDeleteLabel, "true")
	}
	return changes
}
