package statefulset

import (
	"fmt"
	"time"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// stuck tells whether the pod of a place has to move and never can, unless
// somebody changes the pod or the spec: InPlaceOnly forbids to recreate it. Such
// a pod takes no place from another.
func (p *planner) stuck(s slot) bool {
	if p.rolling.PodUpdatePolicy != v1beta1.InPlaceOnlyPodUpdateStrategyType || !mustMove(s) {
		return false
	}
	update, obstacle := p.inPlace(s.pod)
	return update == nil || obstacle != nil
}

// inPlace returns the in-place update of the pods that are at a pod's revision,
// nil where there is none, and what keeps that from beginning on this pod: with
// any policy but the two that update in place there is neither. (IP-1)
func (p *planner) inPlace(pod *pod) (update *inplace.Update, obstacle error) {
	switch p.rolling.PodUpdatePolicy {
	case v1beta1.InPlaceIfPossiblePodUpdateStrategyType, v1beta1.InPlaceOnlyPodUpdateStrategyType:
	default:
		return nil, nil
	}
	if p.calculator == nil {
		p.calculator = &inplace.Calculator{History: p.Revisions, To: p.plan.Revisions.Update,
			Options: inplace.CalculateOptions{NoEnvFromMetadata: p.Features.NoEnvFromMetadata}}
	}
	if update, _ = p.calculator.For(pod.Labels[revisionLabel]); update == nil {
		return nil, nil
	}
	if obstacle = unknownState(pod); obstacle == nil {
		obstacle = inplace.Feasible(pod.Pod, update)
	}
	return update, obstacle
}

// unknownState reports a lifecycle state that no update can begin from.
func unknownState(pod *pod) error {
	switch state := lifecycle.StateOf(pod.Pod); state {
	case "", lifecyclev1alpha1.StatePreparingNormal, lifecyclev1alpha1.StateNormal, lifecyclev1alpha1.StatePreparingUpdate,
		lifecyclev1alpha1.StateUpdating, lifecyclev1alpha1.StateUpdated, lifecyclev1alpha1.StatePreparingDelete:
		return nil
	default:
		return fmt.Errorf("label %s has the unknown value %q; remove the label to let the pod be updated", lifecyclev1alpha1.StateLabel, state)
	}
}

// forbidden says why a pod that must not be recreated cannot be updated either,
// and reports it: once per revision where the template is the reason, and per
// pod where the pod itself is. (STS-20)
func (p *planner) forbidden(pod *pod, obstacle error) *rollout.Reason {
	const policy = "podUpdatePolicy InPlaceOnly: "
	if obstacle != nil {
		if !pod.unreadable { // otherwise it is reported already
			p.podProblem(pod, obstacle)
		}
		return &rollout.Reason{Rule: rollout.RuleInPlaceOnly, Message: policy + obstacle.Error()}
	}
	label := pod.Labels[revisionLabel]
	if reason := p.forbids[label]; reason != nil {
		return reason
	}
	_, obstacles := p.calculator.For(label)
	why := obstacles[0].String()
	p.problem(v1beta1.StatefulSetConditionFailedUpdatePod, fmt.Errorf(
		"pods of revision %s cannot be updated in place, and podUpdatePolicy InPlaceOnly forbids to recreate them: %s; change the template back or the policy",
		label, why))
	reason := &rollout.Reason{Rule: rollout.RuleInPlaceOnly, Message: policy + why}
	if p.forbids == nil {
		p.forbids = map[string]*rollout.Reason{}
	}
	p.forbids[label] = reason
	return reason
}

// updateInPlace starts an in-place update, or has the pod's hook asked to
// prepare it. A pod without a lifecycle state gets none. (LC-9, LC-19)
func (p *planner) updateInPlace(pod *pod, update *inplace.Update) {
	options := inplace.BeginOptions{Now: p.Now}
	if s := p.rolling.InPlaceUpdateStrategy; s != nil {
		options.GracePeriodSeconds = s.GracePeriodSeconds
	}
	patch, hooks := pod.change(rollout.PatchPrepare), p.hooks()
	if lifecycle.StateOf(pod.Pod) != "" || hooks != nil && lifecycle.HookedAny(hooks.InPlaceUpdate, pod.Pod) {
		step, held := lifecycle.BeginUpdate(patch, pod.Pod, hooks, false, p.Now)
		if step != lifecycle.UpdateStart {
			p.wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleInPlaceUpdateHook, Message: held})
			return
		}
	}
	pod.kind = rollout.PatchUpdateInPlace
	if err := inplace.Begin(patch, pod.Pod, update, options); err != nil {
		pod.patch = nil
		p.podProblem(pod, err)
		return
	}
	patch.SetLabel(revisionLabel, revisionLabelOf(p.plan.Revisions.Update))
	p.requeueAfter(time.Duration(options.GracePeriodSeconds) * time.Second)
}
