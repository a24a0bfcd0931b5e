// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// planUpdate updates pods of old revisions. (DS-8 to DS-16)
func (p *planner) planUpdate() {
	switch {
	case p.plan.Revisions.Refused != nil:
		p.waitAll(p.NoRevision())
		return
	case p.rolling == nil:
		p.waitAll(&rollout.Reason{Rule: rollout.RuleOnDelete, Message: "updateStrategy.type OnDelete: the pod is updated when a user deletes it"})
		return
	case p.rolling.Paused != nil && *p.rolling.Paused:
		p.waitAll(&rollout.Reason{Rule: rollout.RulePaused, Message: "rollingUpdate.paused is true"})
		return
	}
	if p.unfit != nil && slices.ContainsFunc(p.turn, func(n *nodePods) bool { return n.old != nil }) {
		p.waitAll(p.Unfit(fmt.Errorf("update pods to revision %s: %w", p.plan.Revisions.Update.Name, p.unfit)))
		return
	}
	p.waitForTurn()
	unserved, interrupted, unavailable, available := p.count()
	n := p.plan.Rollout.Replace()
	limit, observed, message := p.plan.Rollout.held(n)
	held := &rollout.Reason{Rule: rollout.RuleMaxUnavailable, Limit: limit, Observed: observed, Message: message}
	if p.limits.maxSurge > 0 {
		held.Rule = ruleMaxSurge
	}
	for _, kind := range []struct {
		nodes []*nodePods
		n     int32
	}{{unserved, n.Unserved}, {interrupted, n.Interrupted}, {unavailable, n.Unavailable}, {available, n.Available}} {
		for i, n := range rollout.RefusedLast(&p.Refused, kind.nodes, func(n *nodePods) *corev1.Pod { return n.old.Pod }) {
			if i >= int(kind.n) {
				p.Wait(n.old.Pod, held)
				continue
			}
			p.update(n)
		}
	}
	p.updateAway(len(unserved)+len(interrupted)+len(unavailable)+len(available) > 0)
}

// updateAway updates the pods of nodes that cannot be reached, when no others are left: what is
// begun there may never end. As many nodes at once as elsewhere. (DS-11)
func (p *planner) updateAway(others bool) {
	left := max(p.limits.maxUnavailable, p.limits.maxSurge) - p.plan.Rollout.Underway
	var nodes []*nodePods
	for _, n := range p.turn {
		switch {
		case !n.away:
		case n.old == nil || n.fresh != nil || n.adopts || n.old.Deleted:
			if n.fresh == nil || !n.fresh.Available {
				left--
			}
		default:
			nodes = append(nodes, n)
		}
	}
	for i, n := range nodes {
		if others || i >= int(left) {
			p.Wait(n.old.Pod, away)
			continue
		}
		p.update(n)
	}
}

// count finds out which nodes have an old pod to update, by what that would mean. (DS-10, DS-11)
func (p *planner) count() (unserved, interrupted, unavailable, available []*nodePods) {
	r := &p.plan.Rollout
	r.MaxUnavailable, r.MaxSurge = p.limits.maxUnavailable, p.limits.maxSurge
	for _, n := range p.turn {
		switch {
		case n.away: // see updateAway
		case p.underway(n):
			r.Underway++
		case r.MaxSurge > 0 && n.adopts: // a second pod would be a third one (DS-14)
		case n.old == nil || n.fresh != nil: // it has an updated pod that is available, or there is none to surge beside
		case n.old.Deleted || n.old.Patch != nil && n.old.Kind == rollout.PatchPrepare:
			r.Underway++
		case n.old.Available:
			available = append(available, n)
		case n.old.neverReady():
			unserved = append(unserved, n)
		case p.interrupted(n):
			interrupted = append(interrupted, n)
		default:
			unavailable = append(unavailable, n)
		}
	}
	slices.SortStableFunc(interrupted, func(a, b *nodePods) int { // those first that are most likely to be out of service because of us
		return cmp.Or(btoi(p.Disrupted[b.name])-btoi(p.Disrupted[a.name]), btoi(p.neverAvailable(b.old))-btoi(p.neverAvailable(a.old)), b.old.since().Compare(a.old.since()))
	})
	r.Unserved, r.Interrupted = int32(len(unserved)), int32(len(interrupted))
	r.Unavailable, r.Available = int32(len(unavailable)), int32(len(available))
	return unserved, interrupted, unavailable, available
}

// underway tells whether a node counts as one that is being updated. (DS-11, DS-14)
func (p *planner) underway(n *nodePods) bool {
	preparing := n.has(func(pod *pod) bool { return pod.preparing && pod.Updated })
	if p.limits.maxSurge > 0 {
		ended := slices.ContainsFunc(n.ended, func(pod *pod) bool { return pod.Updated })
		return n.crowded || preparing || ended && n.old != nil || n.fresh == nil && n.old == nil || n.fresh != nil && !n.fresh.Available
	}
	if n.crowded || n.old != nil && n.fresh != nil {
		return true
	}
	return n.old == nil && (n.fresh == nil || !n.fresh.Available || n.fresh.Deleted)
}

// update updates the pod of a node. With a surge it creates a second pod. Otherwise it updates the pod in place if that is
// possible. If not, it deletes the pod, after which a new one is created. (DS-13, DS-14)
func (p *planner) update(n *nodePods) {
	pod := n.old
	if p.limits.maxSurge > 0 {
		if len(p.Stage.Create) < p.limits.burst && !p.forgo(n) {
			p.createUpdated(n)
		}
		return
	}
	if p.RefreshFirst(&pod.View) {
		return
	}
	if update := p.inPlace(pod); update != nil {
		if p.inPlaceUpdates >= p.limits.burst {
			p.Wait(pod.Pod, &rollout.Reason{Rule: ruleBurst, Limit: int32(p.limits.burst), Message: fmt.Sprintf("burstReplicas %d: as many pods are updated first", p.limits.burst)})
			return
		}
		p.inPlaceUpdates++
		p.UpdateInPlace(&pod.View, update, p.plan.Revisions.Update)
		return
	}
	if len(p.Stage.Delete) >= p.limits.burst {
		p.Wait(pod.Pod, &rollout.Reason{Rule: ruleBurst, Limit: int32(p.limits.burst), Message: fmt.Sprintf("burstReplicas %d: as many pods are deleted first", p.limits.burst)})
		return
	}
	p.Delete(&pod.View, rollout.PodDeletion{For: rollout.DeleteForUpdate, Unchanged: !pod.Available})
}

// inPlace returns the in-place update of a pod, nil if it has to be recreated. (DS-13)
func (p *planner) inPlace(pod *pod) *inplace.Update {
	if !readiness.HasGate(pod.Pod, inplacev1alpha1.InPlaceUpdateReady) {
		return nil
	}
	update, _ := p.InPlace(&pod.View, p.plan.Revisions.Update)
	if update == nil {
		return nil
	}
	hashed := *update // pods of a DaemonSet record the hash of a revision, not its name
	hashed.Revision = revision.ShortHash(p.plan.Revisions.Update.Name)
	return &hashed
}

// waitAll says for all old pods why they are not updated.
func (p *planner) waitAll(reason *rollout.Reason) {
	for _, n := range p.nodes {
		if n.old != nil && !n.old.Deleted {
			p.Wait(n.old.Pod, reason)
		}
	}
}

// waitForTurn says why old pods stay that the update does not get to.
func (p *planner) waitForTurn() {
	partition := &rollout.Reason{Rule: rollout.RulePartition, Limit: p.limits.partition, Message: fmt.Sprintf("partition %d: as many nodes stay at their revision", p.limits.partition)}
	for _, n := range p.nodes {
		switch {
		case n.inTurn || n.old == nil || n.old.Deleted:
		case !n.runs:
			p.Wait(n.old.Pod, tainted)
		case !p.selects(n):
			p.Wait(n.old.Pod, notSelected)
		default:
			p.Wait(n.old.Pod, partition)
		}
	}
}

var (
	tainted     = &rollout.Reason{Rule: ruleNodeTainted, Message: "the node has a taint that keeps new pods away: the pod could not be created again"}
	away        = &rollout.Reason{Rule: ruleNodeAway, Message: "the node cannot be reached: its pod is updated after all others, as many at once"}
	notSelected = &rollout.Reason{Rule: ruleNodeSelector, Message: "rollingUpdate.selector does not match the node"}
)
