// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// RolloutStatus says how far the rollout of a UnitedDeployment is, by the UnitedDeployment alone. It is complete when as
// many pods are updated as the partitions of the subsets let. None beyond the replicas is left then, and the updated ones
// are ready.
func RolloutStatus(set *v1alpha1.UnitedDeployment) rollout.Status {
	s := &set.Status
	want, partitions := ptr.Deref(set.Spec.Replicas, 1), int32(0)
	if s.UpdateStatus != nil {
		for _, partition := range s.UpdateStatus.CurrentPartitions {
			partitions += partition
		}
	}
	return rollout.StatusOf(set.Generation, s.ObservedGeneration, "", rollout.Counts{
		Want: want, WantUpdated: max(want-partitions, 0), Have: s.Replicas, Updated: s.UpdatedReplicas, Ready: s.UpdatedReadyReplicas,
	})
}
