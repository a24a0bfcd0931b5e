// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// statuses says which fields of a DaemonSet hold what all statuses have.
var statuses = podplan.Status[v1alpha1.DaemonSetStatus, v1alpha1.DaemonSetCondition, v1alpha1.DaemonSetConditionType]{
	DeepCopy: (*v1alpha1.DaemonSetStatus).DeepCopy,
	Fields: func(s *v1alpha1.DaemonSetStatus) podplan.StatusFields[v1alpha1.DaemonSetCondition] {
		return podplan.StatusFields[v1alpha1.DaemonSetCondition]{ObservedGeneration: &s.ObservedGeneration,
			CollisionCount: &s.CollisionCount, Conditions: &s.Conditions}
	},
	Condition: func(c *v1alpha1.DaemonSetCondition) podplan.Condition[v1alpha1.DaemonSetConditionType] {
		return podplan.Condition[v1alpha1.DaemonSetConditionType]{Type: &c.Type, Status: &c.Status, LastTransitionTime: &c.LastTransitionTime, Reason: &c.Reason, Message: &c.Message}
	},
	Kept: []v1alpha1.DaemonSetConditionType{v1alpha1.DaemonSetConditionReconciling, v1alpha1.DaemonSetConditionStalled,
		v1alpha1.DaemonSetConditionHeldUp},
}

// planStatus computes the status from the pods as they were observed. (DS-17)
func (p *planner) planStatus() {
	p.plan.Status = statuses.Plan(&p.Planner, &p.Set.Status, p.countStatus)
}

func (p *planner) countStatus(status *v1alpha1.DaemonSetStatus) {
	update := p.plan.Revisions.Update
	status.DaemonSetHash, status.CurrentRevision = revision.ShortHash(update.Name), p.plan.Revisions.Current.Name
	status.DesiredNumberScheduled = p.desired
	status.CurrentNumberScheduled, status.NumberMisscheduled, status.NumberReady = 0, 0, 0
	status.UpdatedNumberScheduled, status.NumberAvailable = 0, 0
	for _, n := range p.nodes {
		pod := n.shown()
		switch {
		case pod == nil && !n.leaving:
		case !n.runs:
			status.NumberMisscheduled++
		case pod == nil:
			status.CurrentNumberScheduled++
		default:
			status.CurrentNumberScheduled++
			count(&status.NumberReady, !pod.ended && lifecycle.Ready(pod.Pod))
			count(&status.NumberAvailable, pod.Available)
			count(&status.UpdatedNumberScheduled, pod.Updated)
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	if p.progress().MayAdvance() {
		status.CurrentRevision = update.Name
	}
	statuses.Judge(status, p.drift(status), p.Now)
}

// drift is what keeps the pods from the spec. What is counted beside it says most of that. (DS-20)
func (p *planner) drift(status *v1alpha1.DaemonSetStatus) podplan.Drift {
	d := podplan.Drift{
		Missing:  status.CurrentNumberScheduled+p.deferred < status.DesiredNumberScheduled,
		Outdated: p.outdated(),
		Surplus: slices.ContainsFunc(p.nodes, func(n *nodePods) bool {
			return !n.stays && (n.shown() != nil || n.leaving)
		}),
		Unavailable: status.NumberAvailable+p.deferred < status.DesiredNumberScheduled,
	}
	if p.rolling != nil && ptr.Deref(p.rolling.Paused, false) {
		d.Paused = "updateStrategy.rollingUpdate.paused"
	}
	return d
}

// outdated tells whether fewer nodes are without an older pod than the update gets to, whether or not the others
// can be updated. (DS-9)
func (p *planner) outdated() bool {
	if p.rolling == nil {
		return false
	}
	done := 0
	for _, n := range p.nodes {
		if n.runs && (n.ahead() || p.selects(n)) && !n.has(func(pod *pod) bool { return !pod.Updated }) {
			done++
		}
	}
	return done < len(p.turn)
}

// shown is the pod of a node by which the status judges it: the oldest one. A pod that is
// terminating says no more than that it is there.
func (n *nodePods) shown() *pod {
	switch {
	case len(n.pods) > 0:
		return n.pods[0]
	case len(n.ended) > 0:
		return n.ended[0]
	}
	return nil
}

// progress is how far the nodes have come to the present template. (DS-5)
func (p *planner) progress() (progress revision.Progress) {
	for _, n := range p.nodes {
		if !n.runs {
			continue
		}
		progress.Wanted++
		count(&progress.Behind, n.has(func(pod *pod) bool { return !pod.Updated }))
		count(&progress.Updated, n.fresh != nil)
	}
	return progress
}

func count(n *int32, counts bool) {
	if counts {
		*n++
	}
}
