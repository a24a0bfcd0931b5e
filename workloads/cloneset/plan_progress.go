// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// progress sets the conditions by which consumers tell how far a CloneSet has come. They follow from
// the numbers of a status, those of the status before it, and the time.
type progress struct {
	set     *v1alpha1.CloneSet       // with the status before
	status  *v1alpha1.CloneSetStatus // whose numbers are counted, and which gets the conditions
	created bool                     // the update revision is created for this status
	back    bool                     // pods go back to the current revision, since the partition was raised
	named   bool                     // Progressing has the reasons of OpenKruise 1.9 (CS-47)
	now     time.Time
}

// setConditions sets Progressing, Reconciling and Stalled. A CloneSet that is being deleted keeps those
// that it has.
func (p *progress) setConditions() {
	if p.set.DeletionTimestamp != nil {
		return
	}
	p.setProgressing()
	p.setState()
}

// hasDeadline tells whether a CloneSet has a progress deadline; the largest number is none. (CS-S4)
func hasDeadline(set *v1alpha1.CloneSet) bool {
	return ptr.Deref(set.Spec.ProgressDeadlineSeconds, math.MaxInt32) != math.MaxInt32
}

// setProgressing sets the condition Progressing, as that of a Deployment is set in the same situation. (CS-S4)
func (p *progress) setProgressing() {
	if !hasDeadline(p.set) {
		statuses.Drop(p.status, v1alpha1.CloneSetConditionProgressing)
		return
	}
	if p.named {
		p.setNamed()
		return
	}
	if p.paused() {
		return
	}
	p.begin()
	switch c := p.condition(); {
	case c.Reason == v1alpha1.CloneSetAvailable && p.updated(): // pods that are lost, and scaling, are no update
	case p.complete():
		p.put(corev1.ConditionTrue, v1alpha1.CloneSetAvailable, "all pods that are to be updated are updated, and all pods are available")
	case p.advanced():
		p.put(corev1.ConditionTrue, v1alpha1.CloneSetUpdated, fmt.Sprintf("the update to revision %s is progressing", p.status.UpdateRevision))
	case c.Reason != v1alpha1.CloneSetProgressDeadlineExceeded && p.left() <= 0:
		p.put(corev1.ConditionFalse, v1alpha1.CloneSetProgressDeadlineExceeded,
			fmt.Sprintf("the update to revision %s has made no progress for %d seconds", p.status.UpdateRevision, *p.set.Spec.ProgressDeadlineSeconds))
	}
}

// paused tells whether the update is paused, while which nothing is judged: that the deadline is
// exceeded stands, and otherwise it starts anew afterwards.
func (p *progress) paused() bool {
	paused, c := p.set.Spec.UpdateStrategy.Paused, p.condition()
	switch {
	case c != nil && c.Reason == v1alpha1.CloneSetProgressDeadlineExceeded:
	case paused && (c == nil || c.Reason != v1alpha1.CloneSetPaused):
		p.put(corev1.ConditionUnknown, v1alpha1.CloneSetPaused, "updateStrategy.paused is true")
	case !paused && c != nil && c.Reason == v1alpha1.CloneSetPaused:
		p.put(corev1.ConditionUnknown, v1alpha1.CloneSetResumed, "updateStrategy.paused is no longer true")
	}
	return paused
}

// begin starts the deadline when another update begins. The update may be to a new revision, or to one that was there before. It
// may also be one of pods that the partition has held back.
func (p *progress) begin() {
	before, c := p.set.Status.UpdateRevision, p.condition()
	switch {
	case p.created:
		p.put(corev1.ConditionTrue, v1alpha1.CloneSetNewRevisionCreated, fmt.Sprintf("revision %s has been created", p.status.UpdateRevision))
	case c == nil, before != "" && before != p.status.UpdateRevision, c.Reason == v1alpha1.CloneSetAvailable && !p.updated():
		p.put(corev1.ConditionTrue, v1alpha1.CloneSetFoundNewRevision, fmt.Sprintf("pods are to be updated to revision %s", p.status.UpdateRevision))
	}
}

// condition is the condition Progressing, nil if there is none.
func (p *progress) condition() *v1alpha1.CloneSetCondition {
	return statuses.Find(p.status, v1alpha1.CloneSetConditionProgressing)
}

// put sets the condition Progressing; the deadline starts anew, also if it says the same as before.
func (p *progress) put(value corev1.ConditionStatus, reason, message string) {
	c := statuses.Put(p.status, v1alpha1.CloneSetConditionProgressing, value, reason, message, p.now)
	c.LastUpdateTime = ptr.To(metav1.NewTime(p.now.Truncate(time.Second)))
}

// heldBack is how many pods may stay at another revision.
func (p *progress) heldBack() int32 {
	if p.set.Spec.UpdateStrategy.Type == v1alpha1.OnDeleteCloneSetUpdateStrategyType {
		return math.MaxInt32
	}
	return p.replicas() - p.status.ExpectedUpdatedReplicas
}

func (p *progress) replicas() int32 { return ptr.Deref(p.set.Spec.Replicas, 1) }

// updated tells whether no pod is left to be updated.
func (p *progress) updated() bool {
	return !p.back && p.status.Replicas-p.status.UpdatedReplicas <= p.heldBack()
}

// complete tells whether the spec is reached.
func (p *progress) complete() bool {
	return p.updated() && p.status.Replicas == p.replicas() && p.status.AvailableReplicas == p.replicas()
}

// misleads tells whether pods are missing, and all that are there look like the end of the update. A reader who does not compare
// them with the replicas, such as Argo CD, takes the update for done. (CS-S3)
func (p *progress) misleads() bool {
	s := p.status
	return p.set.DeletionTimestamp == nil && s.Replicas < p.replicas() &&
		(s.UpdatedAvailableReplicas == s.Replicas || s.ExpectedUpdatedReplicas < p.replicas() && s.UpdatedReplicas >= s.ExpectedUpdatedReplicas)
}

// advanced tells whether pods have been updated, or have become ready or available, since the status before.
func (p *progress) advanced() bool {
	before, now := &p.set.Status, p.status
	return now.UpdatedReplicas > before.UpdatedReplicas || now.Replicas-now.UpdatedReplicas < before.Replicas-before.UpdatedReplicas ||
		now.ReadyReplicas > before.ReadyReplicas || now.AvailableReplicas > before.AvailableReplicas
}

// left is how long it is until the deadline, if nothing moves.
func (p *progress) left() time.Duration {
	c := p.condition()
	since := ptr.Deref(c.LastUpdateTime, c.LastTransitionTime)
	return since.Add(time.Duration(*p.set.Spec.ProgressDeadlineSeconds) * time.Second).Sub(p.now)
}

// requeueAfter is when the deadline is to be looked at again, 0 if it does not run.
func (p *progress) requeueAfter() time.Duration {
	c := p.condition()
	if c == nil || p.set.DeletionTimestamp != nil {
		return 0
	}
	switch c.Reason {
	case v1alpha1.CloneSetAvailable, v1alpha1.CloneSetProgressDeadlineExceeded, v1alpha1.CloneSetPaused,
		v1alpha1.CloneSetProgressPartitionAvailable:
		return 0
	}
	return max(p.left(), 0)
}

// setState sets Reconciling or Stalled, whichever is the case, and removes what is not. (CS-S5)
func (p *progress) setState() {
	if c := p.condition(); c != nil && c.Status == corev1.ConditionFalse {
		statuses.Stall(p.status, c.Reason, c.Message, p.now)
		return
	}
	drift := podplan.Drift{
		Missing:     p.status.Replicas < p.replicas(),
		Outdated:    !p.updated(),
		Surplus:     p.status.Replicas > p.replicas(),
		Unavailable: p.status.AvailableReplicas != p.replicas(),
	}
	if p.set.Spec.UpdateStrategy.Paused {
		drift.Paused = "updateStrategy.paused"
	}
	statuses.Judge(p.status, drift, p.now)
}
