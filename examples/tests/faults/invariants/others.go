// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// withoutOthers returns the pods of a change, nil if there is none, without the annotations that others than their
// workload keep. These say which budget protects a pod, and that its eviction was denied. If a WorkloadSpread counts the
// pod, they also say in which order it goes.
func withoutOthers(c Change) (before, after *corev1.Pod) {
	before, _ = c.Old.(*corev1.Pod)
	after, _ = c.New.(*corev1.Pod)
	for _, pod := range []**corev1.Pod{&before, &after} {
		if *pod == nil {
			continue
		}
		others := []string{availabilityv1alpha1.RelatedPubAnnotation, lifecyclev1alpha1.EvictionDeniedAnnotation}
		if (*pod).Annotations[distributionv1alpha1.MatchedWorkloadSpreadAnnotation] != "" {
			others = append(others, corev1.PodDeletionCost)
		}
		for _, key := range others {
			if _, found := (*pod).Annotations[key]; found {
				*pod = (*pod).DeepCopy()
				delete((*pod).Annotations, key)
			}
		}
	}
	return before, after
}

// rescheduled tells whether a WorkloadSpread may delete a pod that has not started. It does if no node takes the pod, or
// if the pod is in a subset without room.
func rescheduled(before *corev1.Pod) bool {
	return before.Annotations[distributionv1alpha1.MatchedWorkloadSpreadAnnotation] != "" && before.Status.Phase == corev1.PodPending
}
