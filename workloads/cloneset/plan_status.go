// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planStatus computes the status from the pods as they were observed.
func (p *planner) planStatus() {
	status := p.Set.Status.DeepCopy()
	status.ObservedGeneration = p.Set.Generation
	if p.selector != nil {
		status.LabelSelector = p.selector.String()
	}
	if p.plan.Revisions.Update != nil {
		p.countStatus(status)
	}
	status.Conditions = conditionsOf(p.Set.Status.Conditions, p.plan.Problems, p.Now)
	if !sameStatus(&p.Set.Status, status) {
		p.plan.Status = status
	}
}

func (p *planner) countStatus(status *v1alpha1.CloneSetStatus) {
	status.Replicas = int32(len(p.pods))
	status.ReadyReplicas, status.AvailableReplicas = 0, 0
	status.UpdatedReplicas, status.UpdatedReadyReplicas = 0, 0
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
		case !pod.preparingDelete && !pod.specified:
			progress.Updated++
		}
	}
	return progress
}

// sameStatus tells whether a status need not be written.
func sameStatus(a, b *v1alpha1.CloneSetStatus) bool {
	x, y := *a, *b
	x.Conditions, y.Conditions = nil, nil
	return equality.Semantic.DeepEqual(&x, &y) && podplan.SameConditions(a.Conditions, b.Conditions, readCondition)
}

type condition = podplan.Condition[v1alpha1.CloneSetConditionType]

func readCondition(c v1alpha1.CloneSetCondition) condition { return condition(c) }

// conditionsOf says what is wrong. Conditions that stand keep their time.
func conditionsOf(old []v1alpha1.CloneSetCondition, problems []rollout.Problem, now time.Time) []v1alpha1.CloneSetCondition {
	return podplan.Conditions(old, problems, now, readCondition,
		func(c condition) v1alpha1.CloneSetCondition { return v1alpha1.CloneSetCondition(c) })
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
