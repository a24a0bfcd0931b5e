package statefulset

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// planUpdate moves pods to the update revision. (rules 14 to 22)
func (p *planner) planUpdate() {
	if len(p.reach.held) > 0 { // never with OnDelete, which has no partition to name
		p.waitAll(p.reach.held, p.partitionReason())
	}
	sequence := p.reach.sequence
	switch {
	case p.reach.err != nil:
		p.problem(v1beta1.StatefulSetConditionFailedUpdatePod, fmt.Errorf("spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy: %w", p.reach.err))
	case p.rolling == nil:
		p.waitAll(p.wanted, &rollout.Reason{Rule: rollout.RuleOnDelete,
			Message: "updateStrategy.type OnDelete: the pod gets the present template when somebody deletes it"})
	case p.rolling.Paused:
		p.waitAll(sequence, &rollout.Reason{Rule: rollout.RulePaused, Message: "updateStrategy.rollingUpdate.paused is true"})
	case p.scaled:
		p.waitAll(sequence, &rollout.Reason{Rule: rollout.RuleScaleFirst, Message: "pods are deleted first; the update goes on afterwards"})
	case p.stopped != nil:
		p.updateBroken(sequence, p.stopped)
	default:
		p.walk(sequence)
	}
}

// reach divides the wanted places as the partition does.
type reach struct {
	sequence []slot // whose pods are to be at the update revision, in the order in which they move
	held     []slot // whose pods stay where they are
	err      error  // nobody can tell
}

// planReach finds out which pods the update reaches, and in which order. (rule 17)
func (p *planner) planReach() {
	switch {
	case p.rolling == nil:
	case p.rolling.UnorderedUpdate != nil:
		p.reach = p.unordered()
	default:
		first := slices.IndexFunc(p.wanted, func(s slot) bool { return s.ordinal >= int(p.limits.partition) })
		if first < 0 {
			first = len(p.wanted)
		}
		p.reach = reach{sequence: slices.Clone(p.wanted[first:]), held: p.wanted[:first]}
		slices.Reverse(p.reach.sequence)
	}
	for _, s := range p.reach.held {
		if s.pod != nil {
			s.pod.held = true
		}
	}
}

func (p *planner) partitionReason() *rollout.Reason {
	held := "pods with a lower ordinal stay at their revision"
	if p.rolling.UnorderedUpdate != nil {
		held = "so many pods stay at their revision"
	}
	return &rollout.Reason{Rule: rollout.RulePartition, Limit: p.limits.partition,
		Message: fmt.Sprintf("partition %d: %s", p.limits.partition, held)}
}

// unordered is the order under unorderedUpdate: replicas less partition pods
// move, first those that have moved or are on their way out, then the others by
// priority. (rule 17)
func (p *planner) unordered() reach {
	var moved []slot
	var others []*corev1.Pod
	byPod := map[*corev1.Pod]slot{}
	for _, s := range p.wanted {
		if s.pod == nil || s.pod.updated || s.pod.terminating {
			moved = append(moved, s)
			continue
		}
		others = append(others, s.pod.Pod)
		byPod[s.pod.Pod] = s
	}
	slices.Reverse(moved)
	ordered, err := rollout.SortByPriority(others, p.rolling.UnorderedUpdate.PriorityStrategy)
	if err != nil {
		return reach{err: err}
	}
	for _, pod := range ordered {
		moved = append(moved, byPod[pod])
	}
	n := len(moved)
	if p.plan.Revisions.Current != p.plan.Revisions.Update { // otherwise no pod belongs at another revision
		n = max(0, min(n, int(p.limits.replicas)-int(p.limits.partition)))
	}
	return reach{sequence: moved[:n], held: moved[n:]}
}

// walk goes down the sequence and moves pods until maxUnavailable of those it
// has come by are not available. (rule 18)
func (p *planner) walk(sequence []slot) {
	unavailable, moved := int32(0), false
	for i, s := range sequence {
		if unavailable >= p.limits.maxUnavailable {
			reason := &rollout.Reason{Rule: rollout.RuleMaxUnavailable, Limit: p.limits.maxUnavailable, Observed: unavailable,
				Message: fmt.Sprintf("maxUnavailable %d: as many pods before this one are not available", p.limits.maxUnavailable)}
			if moved {
				p.waitAll(sequence[i:], reason)
			} else {
				p.updateBroken(sequence, reason)
			}
			return
		}
		if mustMove(s) {
			p.update(s.pod)
			moved = true
		}
		if !serves(s) {
			unavailable++
		}
	}
}

// mustMove tells whether the pod of a place has to move.
func mustMove(s slot) bool {
	return s.pod != nil && s.pod.own && !s.pod.updated && !s.pod.terminating && !s.pod.ended && !s.pod.deleted
}

// serves tells whether a pod is at the update revision and serves there.
func serves(s slot) bool {
	return s.pod != nil && s.pod.own && s.pod.updated && s.pod.healthy() && s.pod.available && s.pod.inPlaceDone
}

// waitAll says why the pods that have to move stay.
func (p *planner) waitAll(slots []slot, reason *rollout.Reason) {
	for _, s := range slots {
		if mustMove(s) {
			p.wait(s.pod.Pod, reason)
		}
	}
}

// updateBroken moves a pod although others are waited for, if it is not ready
// and that may be because of the revision it is at: otherwise a broken update
// could never be taken back. Pods that are ready stay.
func (p *planner) updateBroken(sequence []slot, waiting *rollout.Reason) {
	broken := p.broken(sequence)
	for _, s := range sequence {
		switch {
		case s.pod != nil && s.pod == broken:
			p.update(broken)
		case mustMove(s):
			p.wait(s.pod.Pod, waiting)
		}
	}
}

// broken is the last pod of the sequence that is not ready and that is given up
// or the next one in order; nil while a pod is terminating. The last one is the
// lowest, and may hold up the creation of others.
func (p *planner) broken(sequence []slot) (broken *pod) {
	works := map[string]bool{} // revision labels with an available pod
	for _, pod := range p.pods {
		if pod.available {
			works[pod.Labels[revisionLabel]] = true
		}
	}
	next := true // all pods before are updated and available
	for _, s := range sequence {
		switch pod := s.pod; {
		case pod == nil:
		case pod.terminating:
			return nil
		case !mustMove(s):
			next = next && pod.available
		case pod.ready():
			next = false
		case next || p.givenUp(pod, works[pod.Labels[revisionLabel]]):
			broken = pod
		}
	}
	return broken
}

// givenUp tells whether nobody wants the revision of a pod any more, or the pod
// itself: its deletion or update is being prepared, which alone may keep it from
// being ready, pods neither come from its revision nor go to it, it is newer than
// the one they go to, or no pod works at it.
func (p *planner) givenUp(pod *pod, works bool) bool {
	current, update := p.plan.Revisions.Current, p.plan.Revisions.Update
	state := lifecycle.StateOf(pod.Pod)
	return !works || pod.Labels[revisionLabel] != revisionLabelOf(current) ||
		state == lifecyclev1alpha1.StatePreparingDelete || state == lifecyclev1alpha1.StatePreparingUpdate ||
		p.plan.Revisions.Create == nil && update.CreationTimestamp.Before(&current.CreationTimestamp)
}

// update moves one pod, in place where policy and template allow it. (rule 18)
func (p *planner) update(pod *pod) {
	if inplace.InGrace(pod.Pod) {
		return // refresh says what it waits for
	}
	if pod.patch != nil {
		p.wait(pod.Pod, &rollout.Reason{
			Rule: rollout.RuleRefreshFirst, Message: "the pod's own state is written first; its update follows"})
		return
	}
	update := p.inPlace(pod)
	switch {
	case update != nil:
		p.updateInPlace(pod, update)
	case p.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType:
		p.wait(pod.Pod, p.forbidden(pod))
	default:
		p.delete(pod, DeleteForUpdate)
	}
}

// recreates tells whether the update deletes a pod, now or later.
func (p *planner) recreates(pod *pod) bool {
	if p.rolling == nil || p.rolling.Paused || pod.updated {
		return false
	}
	return !pod.held && p.rolling.PodUpdatePolicy != v1beta1.InPlaceOnlyPodUpdateStrategyType && p.inPlace(pod) == nil
}

// inPlace returns the in-place update of a pod; nil where there is none. (inplace rule 1)
func (p *planner) inPlace(pod *pod) *inplace.Update {
	switch p.rolling.PodUpdatePolicy {
	case v1beta1.InPlaceIfPossiblePodUpdateStrategyType, v1beta1.InPlaceOnlyPodUpdateStrategyType:
	default:
		return nil
	}
	if p.calculator == nil {
		p.calculator = &inplace.Calculator{History: p.Revisions, To: p.plan.Revisions.Update,
			Options: inplace.CalculateOptions{NoEnvFromMetadata: p.Features.NoEnvFromMetadata}}
	}
	update, _ := p.calculator.For(pod.Labels[revisionLabel])
	return update
}

// forbidden says why a pod that must not be recreated cannot be updated
// either, and reports it once per revision. (rule 20)
func (p *planner) forbidden(pod *pod) *rollout.Reason {
	label := pod.Labels[revisionLabel]
	if reason := p.forbids[label]; reason != nil {
		return reason
	}
	_, obstacles := p.calculator.For(label)
	obstacle := obstacles[0].String()
	p.problem(v1beta1.StatefulSetConditionFailedUpdatePod, fmt.Errorf(
		"pods of revision %s cannot be updated in place, and podUpdatePolicy InPlaceOnly forbids to recreate them: %s; change the template back or the policy",
		label, obstacle))
	reason := &rollout.Reason{Rule: rollout.RuleInPlaceOnly, Message: "podUpdatePolicy InPlaceOnly: " + obstacle}
	if p.forbids == nil {
		p.forbids = map[string]*rollout.Reason{}
	}
	p.forbids[label] = reason
	return reason
}

// updateInPlace starts an in-place update, or has the pod's hook asked to
// prepare it. A pod without a lifecycle state gets none. (lifecycle rules 9 and 19)
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
