// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/conversion"
)

// planPods brings pods to the nodes that should run one and lack it. It removes pods that are in the way. It does both whether or
// not an update is under way. (DS-3 to DS-7)
func (p *planner) planPods() {
	for _, pod := range p.strays {
		p.remove(pod, rollout.DeleteForScale)
	}
	var lacking []*nodePods
	for _, n := range p.nodes {
		if !n.stays {
			p.leave(n)
			continue
		}
		for _, pod := range n.ended {
			p.replaceEnded(n, pod)
		}
		for _, pod := range n.pods {
			if pod.preparing {
				p.remove(pod, rollout.DeleteForScale)
			}
		}
		p.thinOut(n)
		if n.runs && len(n.pods)+len(n.ended) == 0 && !n.adopts {
			if n.leaving && p.limits.maxSurge == 0 {
				p.waitNode(n, terminating)
				continue
			}
			lacking = append(lacking, n)
		}
	}
	p.reportAstray()
	p.createMissing(lacking)
}

// reportAstray reports pods that are for no node. (DS-21)
func (p *planner) reportAstray() {
	if len(p.astray) == 0 {
		return
	}
	first := slices.MinFunc(p.astray, func(a, b *pod) int { return strings.Compare(a.Name, b.Name) })
	p.Problem(failedCreate, fmt.Errorf("%d pods are on no node, and their affinity names none, as that of pod %s: what changes pods as they are created "+
		"must leave them the field metadata.name of their node affinity; as many nodes wait for a pod", len(p.astray), first.Name))
}

// forgo tells whether the pod of a node is not created, since one that is for no node may be
// meant for it. Whatever takes their nodes from new pods would do so again. (DS-21)
func (p *planner) forgo(n *nodePods) bool {
	if p.forgone >= len(p.astray) {
		return false
	}
	p.forgone++
	p.waitNode(n, &rollout.Reason{Rule: ruleAstray, Observed: int32(len(p.astray)),
		Message: fmt.Sprintf("%d pods are for no node, and perhaps for this one", len(p.astray))})
	return true
}

// waitNode records why a node does not get a pod.
func (p *planner) waitNode(n *nodePods, reason *rollout.Reason) {
	p.plan.WaitingNodes = append(p.plan.WaitingNodes, rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: n.name}, Reason: reason})
}

var terminating = &rollout.Reason{Rule: ruleTerminating, Message: "the pod of the node is terminating; another one is created when it is gone"}

// leave removes all pods from a node that fits them no more. (DS-3)
func (p *planner) leave(n *nodePods) {
	for _, pods := range [][]*pod{n.ended, n.pods} {
		for _, pod := range pods {
			p.remove(pod, rollout.DeleteForScale)
		}
	}
}

// remove deletes a pod, as far as burstReplicas goes. (DS-7, DS-16)
func (p *planner) remove(pod *pod, why rollout.DeletionReason) {
	if pod.Patch != nil || pod.Deleted {
		return
	}
	if len(p.Stage.Delete) >= p.limits.burst {
		p.Wait(pod.Pod, &rollout.Reason{Rule: ruleBurst, Limit: int32(p.limits.burst), Message: fmt.Sprintf("burstReplicas %d: as many pods are deleted first", p.limits.burst)})
		return
	}
	p.Delete(&pod.View, rollout.PodDeletion{For: why})
}

// replaceEnded deletes a pod that has ended, so that another one comes, unless the
// one before it ended a short time ago. (DS-4)
func (p *planner) replaceEnded(n *nodePods, pod *pod) {
	wait := p.BackOff[n.name].Sub(p.Now)
	if wait <= 0 {
		p.remove(pod, rollout.DeleteFailed)
		return
	}
	p.RequeueAfter(wait)
	p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleBackOff,
		Message: fmt.Sprintf("the pod has ended (%s), as the one before it; it is replaced at %s", pod.Status.Phase, p.BackOff[n.name].UTC().Format(time.TimeOnly))})
}

// thinOut removes the pods of a node beyond one. A surging update has one of either
// kind there until the new one is available. (DS-4, DS-14)
func (p *planner) thinOut(n *nodePods) {
	if len(n.pods) < 2 {
		return
	}
	if p.limits.maxSurge == 0 {
		p.retain(n, func(*pod) bool { return true })
		return
	}
	p.retain(n, func(pod *pod) bool { return pod.Updated })
	p.retain(n, func(pod *pod) bool { return !pod.Updated })
	if n.old != nil && n.fresh != nil && n.old.replacedBy(n.fresh) {
		p.remove(n.old, rollout.DeleteForUpdate)
	}
}

// replacedBy tells whether an old pod gives way to the one that surges beside it. One that has
// served, and does not for a moment, stays while the other one never was ready. (DS-14)
func (p *pod) replacedBy(fresh *pod) bool {
	return fresh.Available || !p.ready() && (fresh.ready() || p.neverReady())
}

// retain removes all pods of a kind but one: an available one if there is any, and
// of several such the oldest. (DS-4)
func (p *planner) retain(n *nodePods, of func(*pod) bool) {
	kind := slices.DeleteFunc(slices.Clone(n.pods), func(pod *pod) bool { return pod.preparing || !of(pod) })
	stays := slices.IndexFunc(kind, func(pod *pod) bool { return pod.Available })
	for i, pod := range kind {
		if i != max(stays, 0) {
			p.remove(pod, rollout.DeleteForScale)
		}
	}
}

// createMissing creates pods on nodes that lack them, by name. (DS-5 to DS-7)
func (p *planner) createMissing(lacking []*nodePods) {
	if len(p.RefusedNodes) > 0 {
		slices.SortStableFunc(lacking, func(a, b *nodePods) int { return btoi(p.RefusedNodes[a.name]) - btoi(p.RefusedNodes[b.name]) })
	}
	limit, progressive := p.progressive()
	for i, n := range lacking {
		switch {
		case progressive && i >= limit:
			p.deferred++
			n.deferred = true
			p.waitNode(n, &rollout.Reason{Rule: rollout.RulePartition, Limit: p.limits.partition,
				Message: fmt.Sprintf("partition %d: pods are created by and by, and the nodes beyond it have one", p.limits.partition)})
		case len(p.Stage.Create) >= p.limits.burst:
			p.waitNode(n, &rollout.Reason{Rule: ruleBurst, Limit: int32(p.limits.burst),
				Message: fmt.Sprintf("burstReplicas %d: as many pods are created first", p.limits.burst)})
		case p.forgo(n):
		default:
			p.create(n, p.plan.Revisions.Refused != nil || !progressive && !n.inTurn)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scalesPartitioned tells whether pods are created only as the partition lets. The field of v1beta1 says it or, if it is not
// there, the annotation. (DS-6)
func (p *planner) scalesPartitioned() bool {
	if says := conversion.DaemonSetPartitionedScaling(p.Set); says != nil {
		return *says
	}
	return p.Set.Annotations[progressiveAnnotation] == "true"
}

// progressive is how many pods may be created, if that is held to what
// the partition lets be updated. (DS-6)
func (p *planner) progressive() (limit int, progressive bool) {
	if p.rolling == nil || p.limits.partition == 0 || !p.scalesPartitioned() {
		return 0, false
	}
	limit = int(p.desired - min(p.limits.partition, p.desired))
	for _, n := range p.nodes {
		if n.runs && slices.ContainsFunc(n.pods, func(pod *pod) bool { return pod.Updated }) {
			limit--
		}
	}
	return max(limit, 0), true
}

// What holds back the pods of a node, beside the rules of package rollout.
const (
	// ruleTerminating: the former pod of the node is not gone yet.
	ruleTerminating rollout.Rule = "Terminating"
	// ruleBurst: burstReplicas limits how many pods are created, deleted and updated
	// in place at once.
	ruleBurst rollout.Rule = "BurstReplicas"
	// ruleNodeSelector: the update leaves out the node, which its selector does not match.
	ruleNodeSelector rollout.Rule = "NodeSelector"
	// ruleNodeTainted: the node takes no new pods, so its pod stays unchanged.
	ruleNodeTainted rollout.Rule = "NodeTainted"
	// ruleAstray: a pod is on no node, and names none.
	ruleAstray rollout.Rule = "PodWithoutNode"
	// ruleNodeAway: the node cannot be reached, and comes last.
	ruleNodeAway rollout.Rule = "NodeAway"
	// ruleMaxSurge: too many nodes have a second pod.
	ruleMaxSurge rollout.Rule = "MaxSurge"
)
