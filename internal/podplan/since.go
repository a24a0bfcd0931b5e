// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TellSince notes in an observed pod since when it waits, if it waits for anything. Then a wait need not look at the pod again. A
// pod that is settled waits for its update at most.
func (p *Planner) TellSince(pod *View) {
	switch {
	case !pod.settled:
		pod.since = p.since(pod.Pod)
	case pod.Updated || p.wantedSince.IsZero():
	case pod.CreationTimestamp.After(p.wantedSince):
		pod.since = pod.CreationTimestamp.Time
	default:
		pod.since = p.wantedSince
	}
}

// revisionSince is since when pods are to have the update revision. It is zero if the revision was used before: no object tells
// since when it is wanted again.
func (p *Planner) revisionSince() time.Time {
	update := p.plan.Revisions.Update
	if update == nil {
		return time.Time{}
	}
	for _, r := range p.History {
		if r.CreationTimestamp.After(update.CreationTimestamp.Time) {
			return time.Time{}
		}
	}
	return update.CreationTimestamp.Time
}

// since is when a pod began to wait, for whatever reason. A pod that a hook holds waits since it came into its state. A pod that
// is being updated in place waits since it went out of service for that. A pod of another revision waits since both it and the
// update revision were there. The time is zero if no object tells it.
func (p *Planner) since(pod *corev1.Pod) time.Time {
	switch lifecycle.StateOf(pod) {
	case lifecyclev1alpha1.StatePreparingUpdate, lifecyclev1alpha1.StatePreparingDelete, lifecyclev1alpha1.StatePreparingNormal, lifecyclev1alpha1.StateUpdated:
		at, _ := time.Parse(time.RFC3339, pod.Annotations[lifecyclev1alpha1.TimestampAnnotation]) // zero if it is not readable
		return at
	}
	if c := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady); c != nil && c.Status == corev1.ConditionFalse {
		return c.LastTransitionTime.Time
	}
	if p.wantedSince.IsZero() || revision.Matches(pod.Labels[RevisionLabel], p.plan.Revisions.Update.Name) {
		return time.Time{}
	}
	if pod.CreationTimestamp.After(p.wantedSince) {
		return pod.CreationTimestamp.Time
	}
	return p.wantedSince
}
