// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// statuses says which fields of a CloneSet hold what all statuses have.
var statuses = podplan.Status[v1alpha1.CloneSetStatus, v1alpha1.CloneSetCondition, v1alpha1.CloneSetConditionType]{
	DeepCopy: (*v1alpha1.CloneSetStatus).DeepCopy,
	Fields: func(s *v1alpha1.CloneSetStatus) podplan.StatusFields[v1alpha1.CloneSetCondition] {
		return podplan.StatusFields[v1alpha1.CloneSetCondition]{ObservedGeneration: &s.ObservedGeneration,
			CollisionCount: &s.CollisionCount, Conditions: &s.Conditions, LabelSelector: &s.LabelSelector}
	},
	Condition: func(c *v1alpha1.CloneSetCondition) podplan.Condition[v1alpha1.CloneSetConditionType] {
		return podplan.Condition[v1alpha1.CloneSetConditionType]{Type: &c.Type, Status: &c.Status, LastTransitionTime: &c.LastTransitionTime, Reason: &c.Reason, Message: &c.Message}
	},
	Kept: []v1alpha1.CloneSetConditionType{
		v1alpha1.CloneSetConditionProgressing, v1alpha1.CloneSetConditionReconciling, v1alpha1.CloneSetConditionStalled,
		v1alpha1.CloneSetConditionHeldUp},
}

// planStatus computes the status from the pods as they were observed, and those that are created now.
func (p *planner) planStatus() {
	p.plan.Status = statuses.Plan(&p.Planner, &p.Set.Status, p.countStatus)
}

func (p *planner) countStatus(status *v1alpha1.CloneSetStatus) {
	p.countPods(status)
	status.ExpectedUpdatedReplicas = p.limits.replicas - p.limits.partition
	status.UpdateRevision = p.plan.Revisions.Update.Name
	status.CurrentRevision = p.plan.Revisions.Current.Name
	if p.progress().MayAdvance() {
		status.CurrentRevision = status.UpdateRevision
	}
	countCreated(status, p.plan, 1, p.plan.Create)
	judge := judgeStatus(p.Snapshot, p.plan, status)
	p.RequeueAfter(judge.requeueAfter())
}

// planHeld lists what keeps the CloneSet from its spec: wanted pods that are not available, and what others wait for. (CS-40)
func (p *planner) planHeld() {
	for _, pod := range p.pods {
		if !pod.Available && !pod.preparingDelete && !pod.specified && !pod.Substituted() {
			p.HoldPod(pod.Pod)
		}
	}
	p.HoldWaits()
	p.HoldBad(validation.Lifecycle(p.Set.Spec.Lifecycle, field.NewPath("spec", "lifecycle"), validation.Hooks...))
}

// countPods counts the pods as they were observed.
func (p *planner) countPods(status *v1alpha1.CloneSetStatus) {
	status.Replicas = int32(len(p.pods))
	status.ReadyReplicas, status.AvailableReplicas = 0, 0
	status.UpdatedReplicas, status.UpdatedReadyReplicas, status.UpdatedAvailableReplicas = 0, 0, 0
	for _, pod := range p.pods {
		ready := pod.Ready()
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
}

// countCreated counts n for each pod that is created.
func countCreated(status *v1alpha1.CloneSetStatus, plan *Plan, n int32, pods []rollout.PodCreation) {
	for i := range pods {
		status.Replicas += n
		if revision.Matches(pods[i].Pod.Labels[podplan.RevisionLabel], plan.Revisions.Update.Name) {
			status.UpdatedReplicas += n
		}
	}
}

// judgeStatus says in a status, whose numbers are counted, what they mean for those who wait for the spec to be
// reached. (CS-S3 to CS-S5)
func judgeStatus(s *Snapshot, plan *Plan, status *v1alpha1.CloneSetStatus) *progress {
	set := s.Set
	p := &progress{set: set, status: status, created: plan.Revisions.Create != nil, back: plan.Diff.Update < 0, named: s.Features.ProgressReasons, now: s.Now}
	p.setConditions()
	status.ObservedGeneration = set.Generation
	if p.misleads() {
		status.ObservedGeneration = set.Status.ObservedGeneration
	}
	return p
}

// withoutUncreated returns a status that does not count the pods which could not be created after all.
func withoutUncreated(s *Snapshot, plan *Plan, status *v1alpha1.CloneSetStatus, uncreated []rollout.PodCreation) *v1alpha1.CloneSetStatus {
	status = status.DeepCopy()
	countCreated(status, plan, -1, uncreated)
	for _, t := range statuses.Kept { // they are judged anew
		if t == v1alpha1.CloneSetConditionHeldUp {
			continue
		}
		statuses.Drop(status, t)
		if c := statuses.Find(&s.Set.Status, t); c != nil {
			status.Conditions = append(status.Conditions, *c.DeepCopy())
		}
	}
	judgeStatus(s, plan, status)
	return status
}

// progress is how far the pods have come to the update revision. Pods that are about to leave are not among the wanted ones. Pods
// that go back to the current revision, since the partition was raised, are behind.
func (p *planner) progress() revision.Progress {
	progress := revision.Progress{Wanted: p.limits.replicas, Behind: max(-p.plan.Diff.Update, 0)}
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
