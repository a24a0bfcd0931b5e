// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// RolloutStatus says how far the rollout of a SidecarSet is, by the SidecarSet alone. It is complete when as many of the pods that it
// matches are updated as the partition lets, and the updated ones are ready.
func RolloutStatus(set *v1alpha1.SidecarSet) rollout.Status {
	s, strategy := &set.Status, &set.Spec.UpdateStrategy
	heldBack, stalled := 0, ""
	if strategy.Partition != nil {
		var err error
		if heldBack, err = intstr.GetScaledValueFromIntOrPercent(strategy.Partition, int(s.MatchedPods), false); err != nil {
			stalled = "spec.updateStrategy.partition: " + err.Error()
		}
	}
	status := rollout.StatusOf(set.Generation, s.ObservedGeneration, stalled, rollout.Counts{
		Want: s.MatchedPods, WantUpdated: max(s.MatchedPods-int32(heldBack), 0), Have: s.MatchedPods, Updated: s.UpdatedPods, Ready: s.UpdatedReadyPods,
	})
	if strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType {
		return status.ByUser(string(strategy.Type))
	}
	return status
}
