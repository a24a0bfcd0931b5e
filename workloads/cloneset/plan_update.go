// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planUpdate updates pods to the update revision or, when the partition was
// raised, back to the current one. (CS-27 to CS-34, CS-37)
func (p *planner) planUpdate() {
	p.replaceLost()
	if p.plan.Diff.Update == 0 && p.tally.Old.Total == 0 {
		return
	}
	target := p.target()
	candidates := p.updateCandidates(target)
	switch {
	case p.plan.Revisions.Refused != nil:
		p.waitAll(candidates, p.NoRevision())
	case p.onDelete() && p.tally.Old.Total > p.limits.partition:
		p.waitAll(candidates, &rollout.Reason{Rule: rollout.RuleOnDelete, Message: "updateStrategy.type OnDelete: the pod is updated when a user deletes it"})
	case p.podsChanged:
		p.waitAll(candidates, &rollout.Reason{
			Rule: rollout.RuleScaleFirst, Message: "pods are created or deleted first; the update goes on afterwards"})
	case p.Set.Spec.UpdateStrategy.Paused:
		p.waitAll(candidates, &rollout.Reason{Rule: rollout.RulePaused, Message: "updateStrategy.paused is true"})
	default:
		p.selectUpdates(candidates, target)
	}
}

// target is the revision that pods are updated to.
func (p *planner) target() *appsv1.ControllerRevision {
	if p.plan.Diff.Update < 0 {
		return p.plan.Revisions.Current
	}
	return p.plan.Revisions.Update
}

// checkTarget says why the revision that pods are updated to can have none.
func (p *planner) checkTarget() error {
	if p.plan.Diff.Update == 0 {
		return nil
	}
	target := p.target()
	template, err := p.templateOf(target)
	if err != nil {
		return fmt.Errorf("move pods back to revision %s: %w; delete it, or lower the partition", target.Name, err)
	}
	if err := p.Selects(template); err != nil {
		return fmt.Errorf("update pods to revision %s: %w", target.Name, err)
	}
	return nil
}

// planOtherwise plans what goes on if the API server refuses all that the
// scale step plans: the steps that follow it. Their pods are on the list of
// those that wait for that step already, and their problems have been reported.
func (p *planner) planOtherwise() {
	if !p.podsChanged {
		return
	}
	waiting, problems := len(p.plan.Waiting), len(p.plan.Problems)
	p.Stage, p.podsChanged = &p.plan.Otherwise, false
	if len(p.plan.Create) > 0 {
		p.planDelete()
	}
	if !p.podsChanged && !p.Set.Spec.UpdateStrategy.Paused && p.plan.Revisions.Refused == nil {
		p.planUpdate()
	}
	p.plan.Waiting, p.plan.Problems = p.plan.Waiting[:waiting], p.plan.Problems[:problems]
}

// selectUpdates updates those of the candidates whose turn it is.
func (p *planner) selectUpdates(candidates []*corev1.Pod, target *appsv1.ControllerRevision) {
	if p.unfit != nil {
		p.waitAll(candidates, p.Unfit(p.unfit))
		return
	}
	ordered := candidates
	if p.plan.Diff.Update != 0 { // otherwise all wait for the same reason
		var err error
		ordered, err = rollout.SortForUpdate(candidates, rollout.UpdateOptions{
			Priority: p.Set.Spec.UpdateStrategy.PriorityStrategy,
			Scatter:  p.Set.Spec.UpdateStrategy.ScatterStrategy,
			All:      p.allPods(),
		})
		if err != nil {
			p.UpdateProblem(fmt.Errorf("spec.updateStrategy.priorityStrategy: %w", err))
			return
		}
	}
	p.staying = p.tally
	ordered = p.Refused.Last(ordered)
	move, waiting := p.tally.SelectForUpdate(p.candidates(ordered), p.unavailable(target == p.plan.Revisions.Update))
	for _, pod := range move {
		p.update(p.byPod(pod), target)
	}
	p.plan.Waiting = append(p.plan.Waiting, waiting...)
}

// updateCandidates are the pods at the other revision that may be updated: not those
// that are about to be deleted, those within a grace period, and those that
// must not be recreated and cannot be updated otherwise. What is left out here
// takes no place in the selection from others, which a StatefulSet goes through in
// order. (CS-23, CS-27)
func (p *planner) updateCandidates(target *appsv1.ControllerRevision) []*corev1.Pod {
	back := p.plan.Diff.Update < 0
	var candidates []*corev1.Pod
	for _, pod := range p.pods {
		if pod.Updated != back || pod.preparingDelete || pod.Deleted || pod.InGrace() {
			continue
		}
		if p.Workload.InPlace.Only {
			if update, err := p.InPlace(&pod.View, target); update == nil {
				p.Wait(pod.Pod, p.Forbidden(&pod.View, err))
				continue
			}
		}
		if p.awaitsNode(pod) {
			continue
		}
		candidates = append(candidates, pod.Pod)
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

func (p *planner) candidates(pods []*corev1.Pod) []Candidate {
	candidates := make([]Candidate, len(pods))
	for i, pod := range pods {
		available := p.byPod(pod).Available
		candidates[i] = Candidate{Pod: pod, Available: available, Settling: !available && lifecycle.Available(pod, 0, p.Now),
			Prepared: p.byPod(pod).PreparedUpdate()}
	}
	return candidates
}

// unavailable counts the unavailable pods, and those of them at the target, without those that have substitutes.
func (p *planner) unavailable(targetIsUpdate bool) (n Unavailable) {
	for _, pod := range p.pods {
		if pod.Available && !pod.preparingDelete || pod.Substituted() {
			continue
		}
		n.All++
		if pod.Updated == targetIsUpdate {
			n.AtTarget++
		}
	}
	return n
}

func (p *planner) waitAll(pods []*corev1.Pod, reason *rollout.Reason) {
	for _, pod := range pods {
		p.Wait(pod, reason)
	}
}

// update updates one pod. (CS-32, CS-33)
func (p *planner) update(pod *pod, target *appsv1.ControllerRevision) {
	if p.RefreshFirst(&pod.View) {
		return
	}
	pod.Otherwise = p.InOtherwise()
	if update, _ := p.InPlace(&pod.View, target); update != nil && !p.lost(pod) {
		p.UpdateInPlace(&pod.View, update, target)
		return
	}
	if pod.Otherwise && len(p.Stage.Delete) >= int(p.plan.Diff.UpdateMaxUnavailable) {
		return // it is not known when it could be created again
	}
	if target == p.plan.Revisions.Update && !p.makesRoom(pod) {
		p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleScaleFirst,
			Message: "pods marked for deletion are replaced first, by pods of the current revision: recreated now, it would be one of them again"})
		return
	}
	p.recreate(pod)
}

// makesRoom tells whether an old pod that is recreated, after those before it,
// comes back at the update revision. (CS-33)
func (p *planner) makesRoom(pod *pod) bool {
	without := p.staying
	without.Old.add(-1, pod.preparingDelete, pod.specified, pod.Available)
	if without.lacksOld() {
		return false
	}
	p.staying = without
	return true
}

// recreate deletes a pod, to be created again at the revision that is missing
// by then. A pod that its preDelete hook holds is marked for
// deletion, so that it is not taken back. (CS-33)
func (p *planner) recreate(pod *pod) {
	p.delete(pod, rollout.DeleteForUpdate)
	if !pod.Deleted {
		pod.Change(rollout.PatchPrepare).SetLabel(lifecyclev1alpha1.SpecifiedDeleteLabel, "true")
	}
}
