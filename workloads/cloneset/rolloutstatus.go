// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// RolloutStatus says how far the rollout of a CloneSet is, by the CloneSet alone. It is complete when as many pods are updated as
// the partition lets, none beyond the replicas is left, and the updated ones are available.
func RolloutStatus(set *v1alpha1.CloneSet) rollout.Status {
	s := &set.Status
	stalled := ""
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == v1alpha1.CloneSetConditionStalled && c.Status == corev1.ConditionTrue {
			stalled = c.Message
		}
	}
	return rollout.StatusOf(set.Generation, s.ObservedGeneration, stalled, rollout.Counts{
		Want: ptr.Deref(set.Spec.Replicas, 1), WantUpdated: s.ExpectedUpdatedReplicas,
		Have: s.Replicas, Updated: s.UpdatedReplicas, Ready: s.UpdatedAvailableReplicas,
	})
}
