// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/v1beta1"
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

func (p *planner) countStatus(status *v1beta1.StatefulSetStatus) {
	current, update := p.plan.Revisions.Current, p.plan.Revisions.Update
	status.CurrentRevision, status.UpdateRevision = current.Name, update.Name
	status.Replicas = int32(len(p.pods))
	status.ReadyReplicas, status.AvailableReplicas = 0, 0
	status.CurrentReplicas, status.UpdatedReplicas, status.UpdatedReadyReplicas = 0, 0, 0
	for _, pod := range p.pods {
		ready := pod.Status.Phase == corev1.PodRunning && readiness.Ready(pod.Pod)
		count(&status.ReadyReplicas, ready)
		count(&status.AvailableReplicas, pod.Available)
		count(&status.UpdatedReadyReplicas, ready && pod.Updated)
		count(&status.UpdatedReplicas, pod.Updated && !pod.terminating)
		count(&status.CurrentReplicas, pod.Labels[podplan.RevisionLabel] == p.RevisionValue(current.Name) && !pod.terminating)
	}
	if p.rolling != nil && p.progress().MayAdvance() {
		status.CurrentRevision, status.CurrentReplicas = update.Name, status.UpdatedReplicas
	}
}

// progress is how far the pods have come to the update revision, where they are
// to be ready as well.
func (p *planner) progress() (progress revision.Progress) {
	updated := func(pod *pod) bool { return pod.Updated && !pod.terminating && pod.ready() }
	for _, pod := range p.pods {
		count(&progress.Behind, !updated(pod))
	}
	for i, s := range p.wanted {
		progress.Wanted++
		count(&progress.Updated, s.pod != nil && s.pod.own && updated(s.pod))
		held := s.ordinal < int(p.limits.partition)
		if p.rolling.UnorderedUpdate != nil {
			held = i < int(p.limits.partition)
		}
		count(&progress.HeldBack, held)
	}
	return progress
}

func count(n *int32, counts bool) {
	if counts {
		*n++
	}
}

// sameStatus tells whether a status need not be written.
func sameStatus(a, b *v1beta1.StatefulSetStatus) bool {
	x, y := *a, *b
	x.Conditions, y.Conditions = nil, nil
	return equality.Semantic.DeepEqual(&x, &y) && podplan.SameConditions(a.Conditions, b.Conditions, readCondition)
}

type condition = podplan.Condition[appsv1.StatefulSetConditionType]

func readCondition(c appsv1.StatefulSetCondition) condition { return condition(c) }

// conditionsOf says what is wrong. Conditions that stand keep their time.
func conditionsOf(old []appsv1.StatefulSetCondition, problems []rollout.Problem, now time.Time) []appsv1.StatefulSetCondition {
	return podplan.Conditions(old, problems, now, readCondition,
		func(c condition) appsv1.StatefulSetCondition { return appsv1.StatefulSetCondition(c) })
}
