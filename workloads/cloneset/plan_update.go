package cloneset

import (
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
// raised, back to the current one. (CS-27 to CS-34)
func (p *planner) planUpdate() {
	if p.plan.Moves.Update == 0 && p.tally.Old.Total == 0 {
		return
	}
	target := p.plan.Revisions.Update
	if p.plan.Moves.Update < 0 {
		target = p.plan.Revisions.Current
	}
	candidates := p.updateCandidates(target)
	switch {
	case p.moved:
		p.waitAll(candidates, &rollout.Reason{
			Rule: rollout.RuleScaleFirst, Message: "pods are created or deleted first; the update goes on afterwards"})
	case p.Set.Spec.UpdateStrategy.Paused:
		p.waitAll(candidates, &rollout.Reason{Rule: rollout.RulePaused, Message: "updateStrategy.paused is true"})
	default:
		p.selectUpdates(candidates, target)
	}
}

// planOtherwise plans what goes on where the API server refuses all that the
// scale step plans: the steps that follow it. Their pods are on the list of
// those that wait for that step already, and their problems have been reported.
func (p *planner) planOtherwise() {
	if !p.moved {
		return
	}
	waiting, problems := len(p.plan.Waiting), len(p.plan.Problems)
	p.stage, p.moved = &p.plan.Otherwise, false
	if len(p.plan.Create) > 0 {
		p.planDelete()
	}
	if !p.moved && !p.Set.Spec.UpdateStrategy.Paused {
		p.planUpdate()
	}
	p.plan.Waiting, p.plan.Problems = p.plan.Waiting[:waiting], p.plan.Problems[:problems]
}

// selectUpdates updates those of the candidates whose turn it is.
func (p *planner) selectUpdates(candidates []*corev1.Pod, target *appsv1.ControllerRevision) {
	if target != p.plan.Revisions.Update {
		if _, err := revision.Template(target.Data.Raw); err != nil {
			err = fmt.Errorf("move pods back to revision %s: %w; delete it, or lower the partition", target.Name, err)
			p.problem(v1alpha1.CloneSetConditionFailedUpdate, err)
			p.waitAll(candidates, &rollout.Reason{Rule: rollout.RulePartition, Message: err.Error()})
			return
		}
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
	move, waiting := p.tally.SelectForUpdate(p.candidates(ordered), p.unavailable(target == p.plan.Revisions.Update))
	for _, pod := range move {
		p.update(p.byPod(pod), target)
	}
	p.plan.Waiting = append(p.plan.Waiting, waiting...)
}

// updateCandidates are the pods at the other revision that may move: not those
// that are about to be deleted, those within a grace period, and those that
// must not be recreated and cannot be updated otherwise. (CS-23, CS-27)
func (p *planner) updateCandidates(target *appsv1.ControllerRevision) []*corev1.Pod {
	back := p.plan.Moves.Update < 0
	inPlaceOnly := p.Set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
	var candidates []*corev1.Pod
	for _, pod := range p.pods {
		if pod.updated != back || pod.preparingDelete || pod.deleted || inplace.InGrace(pod.Pod) && !pod.unreadable {
			continue
		}
		if inPlaceOnly {
			if update, err := p.inPlace(pod, target); update == nil {
				p.wait(pod.Pod, p.forbidden(pod, err))
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

func (p *planner) candidates(pods []*corev1.Pod) []Candidate {
	candidates := make([]Candidate, len(pods))
	for i, pod := range pods {
		candidates[i] = Candidate{Pod: pod, Available: p.byPod(pod).available,
			Prepared: lifecycle.StateOf(pod) == lifecyclev1alpha1.StatePreparingUpdate}
	}
	return candidates
}

// unavailable counts the unavailable pods, and those of them at the target.
func (p *planner) unavailable(targetIsUpdate bool) (n Unavailable) {
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

// update moves one pod. (CS-32, CS-33)
func (p *planner) update(pod *pod, target *appsv1.ControllerRevision) {
	if pod.patch != nil {
		p.wait(pod.Pod, &rollout.Reason{
			Rule: rollout.RuleRefreshFirst, Message: "the pod's own state is written first; its update follows"})
		return
	}
	pod.otherwise = p.stage == &p.plan.Otherwise
	switch p.Set.Spec.UpdateStrategy.Type {
	case v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType:
		if update, _ := p.inPlace(pod, target); update != nil {
			p.updateInPlace(pod, update, target)
			return
		}
	}
	if p.stage == &p.plan.Otherwise && len(p.stage.Delete) >= int(p.plan.Moves.UpdateMaxUnavailable) {
		return // nobody knows when it could be created again
	}
	p.recreate(pod)
}

// inPlace returns the in-place update of a pod; nil where there is none, and
// the error where it cannot begin. (IP-1)
func (p *planner) inPlace(pod *pod, target *appsv1.ControllerRevision) (*inplace.Update, error) {
	if p.calculator == nil { // a plan moves pods to one revision only
		p.calculator = &inplace.Calculator{History: p.Revisions, To: target,
			Options: inplace.CalculateOptions{NoEnvFromMetadata: p.Features.NoEnvFromMetadata}}
	}
	update, _ := p.calculator.For(pod.Labels[revisionLabel])
	if update == nil {
		return nil, nil
	}
	if err := inplace.Feasible(pod.Pod, update); err != nil {
		return nil, err
	}
	return update, nil
}

// forbidden says why a pod that must not be recreated cannot be updated
// either, and reports it: once per revision, or for the pod whose update cannot
// begin.
func (p *planner) forbidden(pod *pod, err error) *rollout.Reason {
	if err != nil {
		p.podProblem(pod, err)
		return &rollout.Reason{Rule: rollout.RuleInPlaceOnly, Message: "updateStrategy.type InPlaceOnly: " + err.Error()}
	}
	label := pod.Labels[revisionLabel]
	if reason := p.forbids[label]; reason != nil {
		return reason
	}
	_, obstacles := p.calculator.For(label)
	obstacle := obstacles[0].String()
	p.problem(v1alpha1.CloneSetConditionFailedUpdate, fmt.Errorf(
		"pods of revision %s cannot be updated in place, and updateStrategy.type InPlaceOnly forbids to recreate them: %s; change the template back or the type", label, obstacle))
	reason := &rollout.Reason{Rule: rollout.RuleInPlaceOnly, Message: "updateStrategy.type InPlaceOnly: " + obstacle}
	if p.forbids == nil {
		p.forbids = map[string]*rollout.Reason{}
	}
	p.forbids[label] = reason
	return reason
}

// updateInPlace starts an in-place update, or has the pod's hook asked to
// prepare it. (LC-9)
func (p *planner) updateInPlace(pod *pod, update *inplace.Update, target *appsv1.ControllerRevision) {
	options := inplace.BeginOptions{Now: p.Now}
	if s := p.Set.Spec.UpdateStrategy.InPlaceUpdateStrategy; s != nil {
		options.GracePeriodSeconds = s.GracePeriodSeconds
	}
	patch := pod.change(rollout.PatchPrepare)
	step, held := lifecycle.BeginUpdate(patch, pod.Pod, p.Set.Spec.Lifecycle, false, p.Now)
	if step != lifecycle.UpdateStart {
		p.wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleInPlaceUpdateHook, Message: held})
		return
	}
	pod.kind = rollout.PatchUpdateInPlace
	if err := inplace.Begin(patch, pod.Pod, update, options); err != nil { // never: it has been checked
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
// deletion, so that it is not taken back. (CS-33)
func (p *planner) recreate(pod *pod) {
	p.delete(pod, rollout.DeleteForUpdate)
	if !pod.deleted {
		pod.patch.SetLabel(lifecyclev1alpha1.SpecifiedDeleteLabel, "true")
	}
}
