// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// statuses says which fields of a StatefulSet hold what all statuses have.
var statuses = podplan.Status[v1beta1.StatefulSetStatus, appsv1.StatefulSetCondition, appsv1.StatefulSetConditionType]{
	DeepCopy: (*v1beta1.StatefulSetStatus).DeepCopy,
	Fields: func(s *v1beta1.StatefulSetStatus) podplan.StatusFields[appsv1.StatefulSetCondition] {
		return podplan.StatusFields[appsv1.StatefulSetCondition]{ObservedGeneration: &s.ObservedGeneration,
			CollisionCount: &s.CollisionCount, Conditions: &s.Conditions, LabelSelector: &s.LabelSelector}
	},
	Condition: func(c *appsv1.StatefulSetCondition) podplan.Condition[appsv1.StatefulSetConditionType] {
		return podplan.Condition[appsv1.StatefulSetConditionType]{Type: &c.Type, Status: &c.Status, LastTransitionTime: &c.LastTransitionTime, Reason: &c.Reason, Message: &c.Message}
	},
	Kept: []appsv1.StatefulSetConditionType{v1beta1.StatefulSetConditionReconciling, v1beta1.StatefulSetConditionStalled,
		v1beta1.StatefulSetConditionHeldUp},
}

// planStatus computes the status from the pods as they were observed.
func (p *planner) planStatus() {
	p.plan.Status = statuses.Plan(&p.Planner, &p.Set.Status, p.countStatus)
}

func (p *planner) countStatus(status *v1beta1.StatefulSetStatus) {
	current, update := p.plan.Revisions.Current, p.plan.Revisions.Update
	status.CurrentRevision, status.UpdateRevision = current.Name, update.Name
	status.Replicas = int32(len(p.pods))
	status.ReadyReplicas, status.AvailableReplicas = 0, 0
	status.CurrentReplicas, status.UpdatedReplicas, status.UpdatedReadyReplicas, status.UpdatedAvailableReplicas = 0, 0, 0, 0
	label := p.RevisionValue(current.Name)
	for _, pod := range p.pods {
		ready := pod.ready()
		count(&status.ReadyReplicas, ready)
		count(&status.AvailableReplicas, pod.Available)
		count(&status.UpdatedReadyReplicas, ready && pod.Updated)
		count(&status.UpdatedAvailableReplicas, pod.Available && pod.Updated)
		count(&status.UpdatedReplicas, pod.Updated && !pod.terminating)
		count(&status.CurrentReplicas, pod.Revision == label && !pod.terminating)
	}
	if status.VolumeClaims = nil; p.Features.CountClaims || p.Features.ResizeClaims {
		status.VolumeClaims = p.countClaims()
	}
	if p.rolling != nil && p.progress().MayAdvance() {
		status.CurrentRevision, status.CurrentReplicas = update.Name, status.UpdatedReplicas
	}
	if p.Set.DeletionTimestamp == nil {
		statuses.Judge(status, p.drift(), p.Now)
	}
}

// drift is what keeps the pods from the spec. A pod that is terminating is there, and not available. (STS-S3)
func (p *planner) drift() podplan.Drift {
	d := podplan.Drift{Outdated: p.outdated(), Surplus: len(p.condemned) > 0}
	for _, s := range p.wanted {
		there := s.pod != nil && s.pod.own
		d.Missing = d.Missing || !there
		d.Unavailable = d.Unavailable || !there || s.pod.terminating || !s.pod.Available
	}
	if p.rolling != nil && p.rolling.Paused {
		d.Paused = "updateStrategy.rollingUpdate.paused"
	}
	return d
}

// outdated tells whether pods are at another revision that the partition does not hold back, whether or not
// they can be updated. (STS-17)
func (p *planner) outdated() bool {
	if p.rolling == nil {
		return false
	}
	old, held := 0, 0
	for _, s := range p.wanted {
		if s.pod != nil && s.pod.own && !s.pod.Updated && (p.rolling.UnorderedUpdate != nil || !p.heldBack(s.ordinal)) {
			old++
		}
	}
	if p.rolling.UnorderedUpdate != nil && p.plan.Revisions.Current != p.plan.Revisions.Update {
		held = int(p.limits.partition)
	}
	return old > held
}

// progress is how far the pods have come to the update revision, at which they are to be
// available. (STS-S1)
func (p *planner) progress() (progress revision.Progress) {
	updated := func(pod *pod) bool { return pod.Updated && !pod.terminating && pod.Available }
	for _, pod := range p.pods {
		count(&progress.Behind, !updated(pod))
	}
	for _, s := range p.wanted {
		progress.Wanted++
		count(&progress.Updated, s.pod != nil && s.pod.own && updated(s.pod))
	}
	return progress
}

func count(n *int32, counts bool) {
	if counts {
		*n++
	}
}
