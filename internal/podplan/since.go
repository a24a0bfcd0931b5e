// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TellSince notes in the waits of pods since when they wait, for whatever reason: a pod that a hook holds since it is in its state, one
// that is being updated in place since it is out of service for that, and one of another revision since both that pod and the update
// revision are there. What no object tells stays zero.
func (p *Planner) TellSince() {
	created := p.revisionSince()
	for i := range p.plan.Waiting {
		if w := &p.plan.Waiting[i]; w.Pod != nil {
			w.Since = since(w.Pod, p.plan.Revisions.Update, created)
		}
	}
}

// revisionSince is since when pods are to have the update revision; zero if it was used before, and no object tells since when it is again.
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

// since is when a pod began to wait.
func since(pod *corev1.Pod, update *appsv1.ControllerRevision, created time.Time) time.Time {
	switch lifecycle.StateOf(pod) {
	case lifecyclev1alpha1.StatePreparingUpdate, lifecyclev1alpha1.StatePreparingDelete, lifecyclev1alpha1.StatePreparingNormal, lifecyclev1alpha1.StateUpdated:
		at, _ := time.Parse(time.RFC3339, pod.Annotations[lifecyclev1alpha1.TimestampAnnotation]) // zero if it is not readable
		return at
	}
	if c := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady); c != nil && c.Status == corev1.ConditionFalse {
		return c.LastTransitionTime.Time
	}
	if update == nil || created.IsZero() || revision.Matches(pod.Labels[RevisionLabel], update.Name) {
		return time.Time{}
	}
	if pod.CreationTimestamp.After(created) {
		return pod.CreationTimestamp.Time
	}
	return created
}
