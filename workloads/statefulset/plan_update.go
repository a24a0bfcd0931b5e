// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// planUpdate updates pods to the update revision. (STS-14 to STS-22)
func (p *planner) planUpdate() {
	if p.plan.Revisions.Refused != nil {
		p.waitAll(p.wanted, p.NoRevision())
		return
	}
	if len(p.reach.held) > 0 { // never with OnDelete, which has no partition to name
		p.waitAll(p.reach.held, p.partitionReason())
	}
	sequence := p.reach.sequence
	switch {
	case p.reach.err != nil:
		p.UpdateProblem(fmt.Errorf("spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy: %w", p.reach.err))
	case p.rolling == nil:
		p.waitAll(p.wanted, &rollout.Reason{Rule: rollout.RuleOnDelete,
			Message: "updateStrategy.type OnDelete: the pod gets the present template when a user deletes it"})
	case p.rolling.Paused:
		p.waitAll(sequence, pausedUpdate)
	case p.unfit != nil && slices.ContainsFunc(sequence, mustUpdate):
		p.waitAll(sequence, p.Unfit(fmt.Errorf("update pods to revision %s: %w", p.plan.Revisions.Update.Name, p.unfit)))
	case p.scaled:
		p.waitAll(sequence, &rollout.Reason{Rule: rollout.RuleScaleFirst, Message: "pods are deleted first; the update goes on afterwards"})
		p.planOtherwise(sequence)
	case p.stopped != nil:
		p.deleteBroken()
		p.updateBroken(sequence, 0, p.stopped)
	default:
		p.walk(sequence)
	}
}

// planOtherwise plans the update that goes on if the API server refuses all that the scale step deletes. The pods of the update
// wait for that step until it is refused. (STS-12)
func (p *planner) planOtherwise(sequence []slot) {
	p.PlanOtherwise(func() {
		if p.stopped == nil || p.inOrder {
			p.walk(sequence)
		} else {
			p.updateBroken(sequence, 0, p.stopped)
		}
	})
}

// pausedUpdate is the reason of pods that stay while the update is paused.
var pausedUpdate = &rollout.Reason{Rule: rollout.RulePaused, Message: "updateStrategy.rollingUpdate.paused is true"}

// reach divides the wanted places as the partition does.
type reach struct {
	sequence []slot // whose pods are to be at the update revision, in the order in which they are updated
	held     []slot // whose pods are held back
	err      error  // it cannot be told
}

// planReach finds out which pods the update reaches, and in which order. (STS-17)
func (p *planner) planReach() {
	switch {
	case p.rolling == nil:
	case p.plan.Revisions.Refused != nil:
		p.reach = reach{held: p.wanted}
	case p.rolling.UnorderedUpdate != nil:
		p.reach = p.unordered()
	default:
		first := slices.IndexFunc(p.wanted, func(s slot) bool { return !p.heldBack(s.ordinal) })
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

// heldBack tells whether the partition of an update in order keeps the pod of an ordinal at its revision. It keeps the ordinals
// below it, or so many wanted ones from the lowest up. (STS-17, STS-33)
func (p *planner) heldBack(ordinal int) bool {
	if p.Features.PartitionCountsPods {
		ordinal = p.window.rank(ordinal)
	}
	return ordinal < int(p.limits.partition)
}

func (p *planner) partitionReason() *rollout.Reason {
	held := "pods with a lower ordinal stay at their revision"
	switch {
	case p.rolling.UnorderedUpdate != nil:
		held = "so many pods stay at their revision"
	case p.Features.PartitionCountsPods:
		held = "so many pods, those with the lowest ordinals, stay at their revision"
	}
	return &rollout.Reason{Rule: rollout.RulePartition, Limit: p.limits.partition,
		Message: fmt.Sprintf("partition %d: %s", p.limits.partition, held)}
}

// goesAhead tells whether a pod whose update is being prepared counts as updated. (STS-37)
func (p *planner) goesAhead(pod *pod) bool {
	return p.Features.PreparingUpdateAsUpdate && pod.own && pod.PreparedUpdate()
}

// unordered is the order under unorderedUpdate. Replicas less partition pods are
// updated, first those that are updated or are on their way out, then the others by
// priority. (STS-17)
func (p *planner) unordered() reach {
	var updated, others []slot
	for _, s := range p.wanted {
		if s.pod == nil || s.pod.Updated || s.pod.terminating || p.goesAhead(s.pod) {
			updated = append(updated, s)
			continue
		}
		others = append(others, s)
	}
	slices.Reverse(updated)
	podOf := func(s slot) *corev1.Pod { return s.pod.Pod }
	ordered, err := rollout.SortByPriorityOf(others, podOf, p.rolling.UnorderedUpdate.PriorityStrategy)
	if err != nil {
		return reach{err: err}
	}
	var stuck []slot // take no place from those that can be updated
	for _, s := range rollout.RefusedLast(&p.Refused, ordered, podOf) {
		if p.stuck(s) || p.Refused.Refused(s.pod.Pod) {
			stuck = append(stuck, s)
		} else {
			updated = append(updated, s)
		}
	}
	updated = append(updated, stuck...)
	n := len(updated)
	if p.plan.Revisions.Current != p.plan.Revisions.Update { // otherwise no pod belongs at another revision
		n = max(0, min(n, int(p.limits.replicas)-int(p.limits.partition)))
	}
	return reach{sequence: updated[:n], held: updated[n:]}
}

// walk goes down the sequence and updates pods until maxUnavailable of those it has come by are not
// available at the update revision. A pod that serves is passed over while so many others do not,
// wherever they are and for whatever reason. (STS-18)
func (p *planner) walk(sequence []slot) {
	b, unavailable, updated := p.newUpdateBudget(), int32(0), false
	if p.deleteSpecified(b); p.Features.UpdateUnavailable {
		p.walkBeyond(sequence, b)
		return
	}
	for i, s := range sequence {
		if unavailable >= p.limits.maxUnavailable {
			reason := &rollout.Reason{Rule: rollout.RuleMaxUnavailable, Limit: p.limits.maxUnavailable, Observed: unavailable,
				Message: fmt.Sprintf("maxUnavailable %d: as many pods before this one are not available", p.limits.maxUnavailable)}
			p.waitToGrow(sequence[i:], reason)
			if updated {
				p.finishPrepared(sequence[i:], reason, nil)
			} else {
				p.updateBroken(sequence, i, reason)
			}
			return
		}
		switch {
		case p.grow(s, b):
			count(&unavailable, p.out(s))
			continue
		case p.stuck(s):
			p.update(s.pod)
			if p.out(s) {
				unavailable++
			}
			continue
		case !mustUpdate(s):
		case b.take(s):
			p.update(s.pod)
			updated = true
		default:
			b.wait(s.pod)
			continue
		}
		if !s.servesUpdated() {
			unavailable++
		}
	}
}

// mustUpdate tells whether the pod of a place has to be updated.
func mustUpdate(s slot) bool {
	return s.pod != nil && s.pod.own && !s.pod.Updated && !s.pod.terminating && !s.pod.ended && !s.pod.Deleted && !s.pod.specified
}

// waitAll says why the pods that have to be updated stay.
func (p *planner) waitAll(slots []slot, reason *rollout.Reason) {
	for _, s := range slots {
		if mustUpdate(s) {
			p.Wait(s.pod.Pod, reason)
		}
	}
}

// update updates one pod, in place if policy and template allow it. One within
// its grace period is left out only here: it has to take its place in the order,
// since it is out of service. (STS-18)
func (p *planner) update(pod *pod) {
	if pod.InGrace() {
		return // refresh says what it waits for
	}
	if p.RefreshFirst(&pod.View) {
		return
	}
	pod.Otherwise = p.InOtherwise()
	update, obstacle := p.inPlace(pod)
	switch {
	case update != nil:
		p.UpdateInPlace(&pod.View, update, p.plan.Revisions.Update)
	case p.Workload.InPlace.Only:
		p.Wait(pod.Pod, p.Forbidden(&pod.View, obstacle))
	default:
		p.delete(pod, rollout.DeleteForUpdate)
	}
}

// recreates tells whether the update deletes a pod, now or later.
func (p *planner) recreates(pod *pod) bool {
	if pod.specified {
		return true
	}
	if p.rolling == nil || p.rolling.Paused || p.unfit != nil || pod.Updated || pod.held || p.Workload.InPlace.Only {
		return false
	}
	update, _ := p.inPlace(pod)
	return update == nil
}
