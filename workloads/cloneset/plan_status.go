// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// statuses says where a CloneSet has what all statuses have.
var statuses = podplan.Status[v1alpha1.CloneSetStatus, v1alpha1.CloneSetCondition, v1alpha1.CloneSetConditionType]{
	DeepCopy: (*v1alpha1.CloneSetStatus).DeepCopy,
	Fields: func(s *v1alpha1.CloneSetStatus) podplan.StatusFields[v1alpha1.CloneSetCondition] {
		return podplan.StatusFields[v1alpha1.CloneSetCondition]{ObservedGeneration: &s.ObservedGeneration,
			CollisionCount: &s.CollisionCount, Conditions: &s.Conditions, LabelSelector: &s.LabelSelector}
	},
	Condition: func(c *v1alpha1.CloneSetCondition) *podplan.Condition[v1alpha1.CloneSetConditionType] {
		return (*podplan.Condition[v1alpha1.CloneSetConditionType])(c)
	},
}

// planStatus computes the status from the pods as they were observed.
func (p *planner) planStatus() {
	p.plan.Status = statuses.Plan(&p.Planner, &p.Set.Status, p.countStatus)
}

func (p *planner) countStatus(status *v1alpha1.CloneSetStatus) {
	status.Replicas = int32(len(p.pods))
	status.ReadyReplicas, status.AvailableReplicas = 0, 0
	status.UpdatedReplicas, status.UpdatedReadyReplicas, status.UpdatedAvailableReplicas = 0, 0, 0
	for _, pod := range p.pods {
		ready := lifecycle.Ready(pod.Pod)
		if ready {
			status.ReadyReplicas++
		}
		if pod.Available {
			status.AvailableReplicas++
		}
		if pod.Updated {
			status.UpdatedReplicas++
			if ready {
				status.UpdatedReadyReplicas++
			}
			if pod.Available {
				status.UpdatedAvailableReplicas++
			}
		}
	}
	status.ExpectedUpdatedReplicas = p.limits.replicas - p.limits.partition
	status.UpdateRevision = p.plan.Revisions.Update.Name
	status.CurrentRevision = p.plan.Revisions.Current.Name
	if p.progress().MayAdvance() {
		status.CurrentRevision = status.UpdateRevision
	}
}

// progress is how far the pods have come to the update revision. Those that are
// about to leave are not among the wanted ones; those that go back to the current
// revision, since the partition was raised, are behind.
func (p *planner) progress() revision.Progress {
	progress := revision.Progress{Wanted: p.limits.replicas, HeldBack: p.limits.partition, Behind: max(-p.plan.Diff.Update, 0)}
	for _, pod := range p.pods {
		switch {
		case !pod.Updated:
			progress.Behind++
		case !pod.preparingDelete && !pod.specified && !pod.evicted:
			progress.Updated++
		}
	}
	return progress
}

// planPruning drops from podsToDelete the names of pods that are gone. (CS-3(g))
func (p *planner) planPruning() {
	names := p.Set.Spec.ScaleStrategy.PodsToDelete
	if len(names) == 0 {
		return
	}
	present := make(map[string]bool, len(p.pods))
	for _, pod := range p.pods {
		present[pod.Name] = true
	}
	for _, name := range names {
		if present[name] {
			p.plan.PodsToDelete = append(p.plan.PodsToDelete, name)
		}
	}
	p.plan.PrunePodsToDelete = len(p.plan.PodsToDelete) < len(names)
}
