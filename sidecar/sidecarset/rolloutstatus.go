// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// RolloutStatus says how far the rollout of a SidecarSet is, by the SidecarSet alone. It is complete when as many of the pods that it
// matches are updated as the partition lets, and the updated ones are ready. A controller with other Features may round the partition
// otherwise: ask them.
func RolloutStatus(set *v1alpha1.SidecarSet) rollout.Status { return Features{}.RolloutStatus(set) }

// RolloutStatus is the function of this name, of a controller that has these features.
func (f Features) RolloutStatus(set *v1alpha1.SidecarSet) rollout.Status {
	s, strategy, stalled := &set.Status, &set.Spec.UpdateStrategy, ""
	heldBack, err := f.Partition(strategy.Partition, s.MatchedPods)
	if err != nil {
		stalled = "spec.updateStrategy." + err.Error()
	}
	status := rollout.StatusOf(set.Generation, s.ObservedGeneration, stalled, rollout.Counts{
		Want: s.MatchedPods, WantUpdated: max(s.MatchedPods-heldBack, 0), Have: s.MatchedPods, Updated: s.UpdatedPods, Ready: s.UpdatedReadyPods,
	})
	if strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType {
		return status.ByUser(string(strategy.Type))
	}
	return status
}
