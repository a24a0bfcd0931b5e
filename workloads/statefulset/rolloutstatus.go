// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// RolloutStatus says how far the rollout of a StatefulSet is, by the StatefulSet alone. It is complete when as many pods are updated
// as the partition lets, none beyond the replicas is left, and all pods are ready.
func RolloutStatus(set *v1beta1.StatefulSet) rollout.Status {
	s, strategy := &set.Status, &set.Spec.UpdateStrategy
	want, partition, stalled := ptr.Deref(set.Spec.Replicas, 1), int32(0), ""
	if strategy.RollingUpdate != nil {
		partition = ptr.Deref(strategy.RollingUpdate.Partition, 0)
	}
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == v1beta1.StatefulSetConditionStalled && c.Status == corev1.ConditionTrue {
			stalled = c.Message
		}
	}
	status := rollout.StatusOf(set.Generation, s.ObservedGeneration, stalled, rollout.Counts{
		Want: want, WantUpdated: max(want-partition, 0), Have: s.Replicas, Updated: s.UpdatedReplicas, Ready: s.ReadyReplicas, AllReady: true,
	})
	if strategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return status.ByUser(string(strategy.Type))
	}
	return status
}
