package statefulset

import (
	"slices"

	"k8s.io/utils/ptr"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
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
	status.Conditions = conditionsOf(p.Set.Status.Conditions, p.plan.Problems, p.now())
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
		count(&status.AvailableReplicas, pod.available)
		count(&status.UpdatedReadyReplicas, ready && pod.updated)
		count(&status.UpdatedReplicas, pod.updated && !pod.terminating)
		count(&status.CurrentReplicas, pod.Labels[revisionLabel] == revisionLabelOf(current) && !pod.terminating)
	}
	if p.rolling != nil && p.progress().MayAdvance() {
		status.CurrentRevision, status.CurrentReplicas = update.Name, status.UpdatedReplicas
	}
}

// progress is how far the pods have come to the update revision, where they are
// to be ready as well.
func (p *planner) progress() (progress revision.Progress) {
	updated := func(pod *pod) bool { return pod.updated && !pod.terminating && pod.ready() }
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

// sameStatus tells whether a status need not be written. When a condition
// began is not worth a write of its own.
func sameStatus(a, b *v1beta1.StatefulSetStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration &&
		a.Replicas == b.Replicas && a.ReadyReplicas == b.ReadyReplicas && a.AvailableReplicas == b.AvailableReplicas &&
		a.CurrentReplicas == b.CurrentReplicas && a.UpdatedReplicas == b.UpdatedReplicas &&
		a.UpdatedReadyReplicas == b.UpdatedReadyReplicas &&
		a.UpdateRevision == b.UpdateRevision && a.CurrentRevision == b.CurrentRevision &&
		a.LabelSelector == b.LabelSelector && ptr.Equal(a.CollisionCount, b.CollisionCount) &&
		slices.EqualFunc(a.Conditions, b.Conditions, func(a, b appsv1.StatefulSetCondition) bool {
			return a.Type == b.Type && a.Status == b.Status && a.Message == b.Message
		})
}

type condition = podplan.Condition[appsv1.StatefulSetConditionType]

// conditionsOf says what is wrong, one condition per type with the first
// problem of its kind. Conditions that stand keep their time.
func conditionsOf(old []appsv1.StatefulSetCondition, problems []Problem, now metav1.Time) []appsv1.StatefulSetCondition {
	return podplan.Conditions(old, problems, now,
		func(c appsv1.StatefulSetCondition) condition { return condition(c) },
		func(c condition) appsv1.StatefulSetCondition { return appsv1.StatefulSetCondition(c) })
}
