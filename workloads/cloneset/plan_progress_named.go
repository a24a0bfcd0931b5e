// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// setNamed sets the condition Progressing as clients of OpenKruise 1.9 know it. The first row of CS-47 that fits counts.
func (p *progress) setNamed() {
	c := p.condition()
	switch {
	case p.finished():
		p.putOther(corev1.ConditionTrue, v1alpha1.CloneSetAvailable, "CloneSet is available")
	case p.set.Spec.UpdateStrategy.Paused:
		p.putOther(corev1.ConditionTrue, v1alpha1.CloneSetPaused, "CloneSet is paused")
	case p.partitionReached():
		p.putOther(corev1.ConditionTrue, v1alpha1.CloneSetProgressPartitionAvailable, "CloneSet has been paused due to partition ready")
	case !progressing(c), p.changed(), p.advanced():
		p.put(corev1.ConditionTrue, v1alpha1.CloneSetUpdated, "CloneSet is progressing")
	case c.Reason == v1alpha1.CloneSetUpdated && p.left() <= 0:
		p.put(corev1.ConditionFalse, v1alpha1.CloneSetProgressDeadlineExceeded,
			fmt.Sprintf("CloneSet revision %s has timed out progressing", p.status.UpdateRevision))
	}
}

// progressing tells whether a condition says that an update is progressing, or no longer is. One with another reason has
// begun no deadline.
func progressing(c *v1alpha1.CloneSetCondition) bool {
	return c != nil && (c.Reason == v1alpha1.CloneSetUpdated || c.Reason == v1alpha1.CloneSetProgressDeadlineExceeded)
}

// changed tells whether pods are to be updated to another revision than before.
func (p *progress) changed() bool {
	before := p.set.Status.UpdateRevision
	return p.created || before != "" && before != p.status.UpdateRevision
}

// finished tells whether all pods are updated and available; with OnDelete, whether all are available, since others do
// not become updated by themselves.
func (p *progress) finished() bool {
	if p.set.Spec.UpdateStrategy.Type == v1alpha1.OnDeleteCloneSetUpdateStrategyType {
		return p.complete()
	}
	s := p.status
	return s.CurrentRevision == s.UpdateRevision && s.Replicas == p.replicas() && s.UpdatedReplicas == p.replicas() &&
		s.UpdatedAvailableReplicas == p.replicas()
}

// partitionReached tells whether as many pods are updated and available as a partition lets.
func (p *progress) partitionReached() bool {
	s := p.status
	return s.ExpectedUpdatedReplicas < p.replicas() && s.ExpectedUpdatedReplicas <= s.UpdatedAvailableReplicas
}

// putOther sets the condition Progressing, unless it says the same already.
func (p *progress) putOther(value corev1.ConditionStatus, reason, message string) {
	if c := p.condition(); c == nil || c.Status != value || c.Reason != reason {
		p.put(value, reason, message)
	}
}
