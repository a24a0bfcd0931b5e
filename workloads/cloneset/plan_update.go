package cloneset

import (
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planUpdate moves pods to the update revision or, when the partition was
// raised, back to the current one. (rules 27 to 34)
func (p *planner) planUpdate() {
	if p.plan.Moves.Update == 0 && p.tally.Old.Total == 0 {
		return
	}
	target := p.plan.UpdateRevision
	if p.plan.Moves.Update < 0 {
		target = p.plan.CurrentRevision
	}
	candidates := p.updateCandidates(target)
	switch {
	case p.scaled:
		p.waitAll(candidates, &rollout.Reason{
			Rule: rollout.RuleScaleFirst, Message: "pods are created or deleted first; the update goes on afterwards"})
		return
	case p.Set.Spec.UpdateStrategy.Paused:
		p.waitAll(candidates, &rollout.Reason{Rule: rollout.RulePaused, Message: "updateStrategy.paused is true"})
		return
	}
	ordered := candidates
	if p.plan.Moves.Update != 0 { // otherwise all wait for the same reason
		var err error
		ordered, err = rollout.SortForUpdate(candidates, rollout.UpdateOptions{
			Priority: p.Set.Spec.UpdateStrategy.PriorityStrategy,
			Scatter:  p.Set.Spec.UpdateStrategy.ScatterStrategy,
			All:      p.allPods(),
		})
		if err != nil {
			p.problem(v1alpha1.CloneSetConditionFailedUpdate, fmt.Errorf("spec.updateStrategy.priorityStrategy: %w", err))
			return
		}
	}
	move, waiting := p.tally.SelectForUpdate(p.candidates(ordered), p.unavailable(target == p.plan.UpdateRevision))
	for _, pod := range move {
		p.update(p.byPod(pod), target)
	}
	p.plan.Waiting = append(p.plan.Waiting, waiting...)
}

// updateCandidates are the pods at the other revision that may move: not those
// that are about to be deleted, those within a grace period, and those that
// must not be recreated and cannot be updated otherwise. (rules 23 and 27)
func (p *planner) updateCandidates(target *appsv1.ControllerRevision) []*corev1.Pod {
	back := p.plan.Moves.Update < 0
	inPlaceOnly := p.Set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
	var candidates []*corev1.Pod
	for _, pod := range p.pods {
		if pod.updated != back || pod.preparingDelete || pod.deleted || inplace.InGrace(pod.Pod) {
			continue
		}
		if inPlaceOnly {
			if v := p.verdict(pod, target); v.update == nil {
				p.wait(pod.Pod, v.forbidden)
				continue
			}
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

func (p *planner) candidates(pods []*corev1.Pod) []rollout.Candidate {
	candidates := make([]rollout.Candidate, len(pods))
	for i, pod := range pods {
		candidates[i] = rollout.Candidate{Pod: pod, Available: p.byPod(pod).available}
	}
	return candidates
}

// unavailable counts the unavailable pods, and those of them at the target.
func (p *planner) unavailable(targetIsUpdate bool) (n rollout.Unavailable) {
	for _, pod := range p.pods {
		if pod.available && !pod.preparingDelete {
			continue
		}
		n.All++
		if pod.updated == targetIsUpdate {
			n.AtTarget++
		}
	}
	return n
}

func (p *planner) waitAll(pods []*corev1.Pod, reason *rollout.Reason) {
	for _, pod := range pods {
		p.wait(pod, reason)
	}
}

// update moves one pod. (rules 32, 33)
func (p *planner) update(pod *pod, target *appsv1.ControllerRevision) {
	if pod.patch != nil {
		p.wait(pod.Pod, &rollout.Reason{
			Rule: rollout.RuleRefreshFirst, Message: "the pod's own state is written first; its update follows"})
		return
	}
	switch p.Set.Spec.UpdateStrategy.Type {
	case v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType:
		if v := p.verdict(pod, target); v.update != nil {
			p.updateInPlace(pod, v.update, target)
			return
		}
	}
	p.recreate(pod)
}

// verdict says whether the pods of one revision can be updated in place.
type verdict struct {
	update    *inplace.Update
	forbidden *rollout.Reason // why not, under InPlaceOnly
}

// verdict compares the revision of a pod with the target, once per revision. (inplace rule 1)
func (p *planner) verdict(pod *pod, target *appsv1.ControllerRevision) *verdict {
	label := pod.Labels[revisionLabel]
	if v := p.verdicts[label]; v != nil {
		return v
	}
	v := &verdict{}
	var obstacles []inplace.Obstacle
	var err error
	v.update, obstacles, err = inplace.Calculate(p.revision(label), target,
		inplace.CalculateOptions{EnvFromMetadata: !p.Features.NoEnvFromMetadata})
	if err != nil {
		obstacles = []inplace.Obstacle{{Reason: err.Error()}}
	}
	if v.update == nil {
		v.forbidden = &rollout.Reason{Rule: rollout.RuleInPlaceOnly,
			Message: "updateStrategy.type InPlaceOnly: " + obstacles[0].String()}
		if p.Set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType {
			p.problem(v1alpha1.CloneSetConditionFailedUpdate, fmt.Errorf(
				"pods of revision %s cannot be updated in place, and updateStrategy.type InPlaceOnly forbids to recreate them: %w; change the template back or the type",
				label, errors.New(obstacles[0].String())))
		}
	}
	if p.verdicts == nil {
		p.verdicts = map[string]*verdict{}
	}
	p.verdicts[label] = v
	return v
}

// revision finds the revision of a pod by its label; nil when it is gone.
func (p *planner) revision(label string) *appsv1.ControllerRevision {
	for _, r := range p.Revisions {
		if revision.Matches(label, r.Name) {
			return r
		}
	}
	return nil
}

// updateInPlace starts an in-place update, or has the pod's hook asked to
// prepare it. (lifecycle rule 9)
func (p *planner) updateInPlace(pod *pod, update *inplace.Update, target *appsv1.ControllerRevision) {
	options := inplace.BeginOptions{Now: p.Now}
	if s := p.Set.Spec.UpdateStrategy.InPlaceUpdateStrategy; s != nil {
		options.GracePeriodSeconds = s.GracePeriodSeconds
	}
	patch := pod.change(PatchPrepare)
	step, held := lifecycle.BeginUpdate(patch, pod.Pod, p.Set.Spec.Lifecycle, false, p.Now)
	if step != lifecycle.UpdateStart {
		p.wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleInPlaceUpdateHook, Message: held})
		return
	}
	pod.kind = PatchUpdateInPlace
	if err := inplace.Begin(patch, pod.Pod, update, options); err != nil {
		pod.patch = nil
		p.podProblem(pod, err)
		return
	}
	for key, value := range p.revisionLabels(target.Name) {
		patch.SetLabel(key, value)
	}
	p.requeueAfter(time.Duration(options.GracePeriodSeconds) * time.Second)
}

// recreate deletes a pod, to be created again at the revision that is missing
// by then. A pod that its preDelete hook holds is marked as picked for
// deletion, so that it is not taken back. (rule 33)
func (p *planner) recreate(pod *pod) {
	p.delete(pod, true)
	if !pod.deleted {
		pod.patch.SetLabel(lifecyclev1alpha1.SpecifiedDeleteLabel, "true")
	}
}
