// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"time"

	"github.com/podwright/podwright/inplace/rollout"
)

// lostAfter is how long a node has to be unreachable until its pods are recreated for an update. As long, pods
// that do not say otherwise tolerate that: a node that restarts is back by then. (CS-38)
const lostAfter = 5 * time.Minute

// RuleNodeAway is the rule by which a pod is not updated in place while its node cannot be reached. (CS-38)
const RuleNodeAway rollout.Rule = "NodeAway"

var (
	nodeAway = &rollout.Reason{Rule: RuleNodeAway,
		Message: "its node cannot be reached, and would not update it; if that lasts for 5 minutes, the pod is recreated"}
	nodeAwayInPlaceOnly = &rollout.Reason{Rule: RuleNodeAway,
		Message: "its node cannot be reached, and would not update it; InPlaceOnly forbids to recreate it: delete the pod, or wait for the node"}
	nodeAwayClaims = &rollout.Reason{Rule: RuleNodeAway,
		Message: "its node cannot be reached, and would not update it; recreated, it would lose its claims: delete the pod, or wait for the node"}
)

// unreachable tells whether a pod is not ready and nothing is heard of its node.
func (p *planner) unreachable(pod *pod) bool {
	if pod.Available {
		return false
	}
	_, unreachable := p.Unreachable[pod.Spec.NodeName]
	return unreachable
}

// hasClaims tells whether a pod has claims, which would be deleted with it.
func (p *planner) hasClaims(pod *pod) bool { return len(p.claims.ofPod(pod.Pod)) > 0 }

// lost tells whether that has been so for long, and the pod may be recreated. An update looks at it again when it will
// have been.
func (p *planner) lost(pod *pod) bool {
	return p.unreachable(pod) && !p.hasClaims(pod) && p.Due(p.Unreachable[pod.Spec.NodeName].Add(lostAfter).Sub(p.Now), true)
}

// awaitsNode tells whether an update in place must not begin on a pod, since its node would not notice: other pods
// would wait for it. It says so. (CS-38)
func (p *planner) awaitsNode(pod *pod, to target) bool {
	if !p.unreachable(pod) || !p.Workload.InPlace.Allowed {
		return false
	}
	if update, _ := p.InPlace(&pod.View, to.revision); update == nil {
		return false
	}
	switch {
	case p.Workload.InPlace.Only:
		p.Wait(pod.Pod, nodeAwayInPlaceOnly)
	case p.hasClaims(pod):
		p.Wait(pod.Pod, nodeAwayClaims)
	case !p.lost(pod):
		p.Wait(pod.Pod, nodeAway)
	default:
		return false
	}
	return true
}

// replaceLost recreates pods of the target if their nodes have been unreachable for long. It does so if others wait for such a
// pod, or if its own update in place has begun. As many are recreated at once as broken pods are updated. It returns whether
// there are any. (CS-38)
func (p *planner) replaceLost(to target) (recreates bool) {
	strategy := &p.Set.Spec.UpdateStrategy
	if len(p.Unreachable) == 0 || p.Workload.InPlace.Only || p.onDelete() || strategy.Paused || p.plan.Revisions.Refused != nil || to.unfit != nil {
		return false
	}
	atUpdate := to.revision == p.plan.Revisions.Update
	left := p.tally.brokenMaxUnavailable() - p.unavailable(to).AtTarget
	var lost []*pod
	for _, pod := range p.pods {
		if pod.Updated != atUpdate || pod.preparingDelete || pod.Deleted || p.plan.Diff.Update == 0 && !pod.Updating || !p.lost(pod) {
			continue
		}
		lost = append(lost, pod)
		left++ // it is one of the unavailable ones
	}
	for _, pod := range lost[:max(min(int(left), len(lost)), 0)] {
		if !p.RefreshFirst(&pod.View) {
			pod.Otherwise = p.InOtherwise()
			recreates = p.recreate(pod) || recreates
		}
	}
	return recreates
}
