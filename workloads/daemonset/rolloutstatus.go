// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// RolloutStatus says how far the rollout of a DaemonSet is, by the DaemonSet alone. It is complete when as many pods are updated as
// the partition lets, every node has its pod, and all pods are available. A controller with other Features may round the partition
// otherwise: ask them.
func RolloutStatus(set *v1alpha1.DaemonSet) rollout.Status { return Features{}.RolloutStatus(set) }

// RolloutStatus is the function of this name, of a controller that has these features.
func (f Features) RolloutStatus(set *v1alpha1.DaemonSet) rollout.Status {
	s, stalled := &set.Status, ""
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == v1alpha1.DaemonSetConditionStalled && c.Status == corev1.ConditionTrue {
			stalled = c.Message
		}
	}
	want := s.DesiredNumberScheduled
	heldBack, err := f.Partition(partitionOf(set), want)
	if err != nil && stalled == "" {
		stalled = err.Error()
	}
	status := rollout.StatusOf(set.Generation, s.ObservedGeneration, stalled, rollout.Counts{
		Want: want, WantUpdated: max(want-heldBack, 0), Have: s.CurrentNumberScheduled, Updated: s.UpdatedNumberScheduled, Ready: s.NumberAvailable, AllReady: true,
	})
	if set.Spec.UpdateStrategy.Type == v1alpha1.OnDeleteDaemonSetStrategyType {
		return status.ByUser(string(set.Spec.UpdateStrategy.Type))
	}
	return status
}
