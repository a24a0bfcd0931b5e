// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// UpdateOptions tunes [SortForUpdate]. The zero value is fit for use.
type UpdateOptions struct {
	// Priority says which pods go first. May be nil.
	Priority *inplacev1alpha1.UpdatePriorityStrategy
	// Scatter spreads pods with certain labels over the whole update. May be empty.
	Scatter inplacev1alpha1.UpdateScatterStrategy
	// All are all pods of the workload, those among them that need no update;
	// Scatter keeps their proportions. Nil means the pods to be sorted.
	All []*corev1.Pod
}

// SortForUpdate returns the pods in the order in which they are to be updated.
//
// Without options those go first that serve least. The order is: no node before a node; the
// phase Pending before Unknown before Running; not Ready; Ready for the shorter
// time; more restarts; younger; and at last the name. A priority replaces this
// order by that of [SortByPriority]; scattering then puts some pods elsewhere. Pods in
// the lifecycle state PreparingUpdate always go first.
//
// The pods and the list stay as they are. The error is that of
// [SortByPriority]. (CS-28 to CS-30, LC-16)
func SortForUpdate(pods []*corev1.Pod, o UpdateOptions) ([]*corev1.Pod, error) {
	var sorted []*corev1.Pod
	if hasPriority(o.Priority) {
		var err error
		if sorted, err = SortByPriority(pods, o.Priority); err != nil {
			return nil, err
		}
	} else {
		keys := newSortKeys(pods)
		sortKeys(keys)
		sorted = podsOf(keys)
	}
	all := o.All
	if all == nil {
		all = pods
	}
	return preparingUpdateFirst(scatter(sorted, all, o.Scatter)), nil
}

// preparingUpdateFirst brings the pods that have been announced to their
// inPlaceUpdate hook to the front, so that no more pods are announced instead.
func preparingUpdateFirst(pods []*corev1.Pod) []*corev1.Pod {
	if !slices.ContainsFunc(pods, preparingUpdate) {
		return pods
	}
	sorted := make([]*corev1.Pod, 0, len(pods))
	for _, pod := range pods {
		if preparingUpdate(pod) {
			sorted = append(sorted, pod)
		}
	}
	for _, pod := range pods {
		if !preparingUpdate(pod) {
			sorted = append(sorted, pod)
		}
	}
	return sorted
}

func preparingUpdate(pod *corev1.Pod) bool {
	return pod.Labels[lifecyclev1alpha1.StateLabel] == string(lifecyclev1alpha1.StatePreparingUpdate)
}
