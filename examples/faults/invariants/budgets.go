// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// UserGracePeriod is the grace period, in seconds, with which users delete pods that a budget protects: by that they are known.
const UserGracePeriod = 7

// disrupted tells whether users have evicted or deleted a pod, or may have where nobody could see that.
func disrupted(c Change, gap bool) bool {
	before, was := c.Old.(*corev1.Pod)
	if !was || !deleted(c.Old, c.New) {
		return false
	}
	after, is := c.New.(*corev1.Pod)
	if !is {
		unseen := gap || before.Spec.NodeName == "" // which goes at once
		return unseen && before.Annotations[availabilityv1alpha1.RelatedPubAnnotation] != "" || podstate.Evicted(before)
	}
	return podstate.Evicted(after) || after.DeletionGracePeriodSeconds != nil && *after.DeletionGracePeriodSeconds == UserGracePeriod
}

// withoutBudgets returns the pods of a change, nil where there is none, without what budgets tell of them: which one
// protects a pod, and that its eviction was denied.
func withoutBudgets(c Change) (before, after *corev1.Pod) {
	before, _ = c.Old.(*corev1.Pod)
	after, _ = c.New.(*corev1.Pod)
	for _, pod := range []**corev1.Pod{&before, &after} {
		if *pod == nil {
			continue
		}
		for _, key := range []string{availabilityv1alpha1.RelatedPubAnnotation, lifecyclev1alpha1.EvictionDeniedAnnotation} {
			if _, found := (*pod).Annotations[key]; found {
				*pod = (*pod).DeepCopy()
				delete((*pod).Annotations, key)
			}
		}
	}
	return before, after
}
