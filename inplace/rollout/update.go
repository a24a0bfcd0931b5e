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
	order, err := updateOrder(pods, o)
	return inOrder(pods, order), err
}

// SortForUpdateOf is SortForUpdate for what has a pod each.
func SortForUpdateOf[T any](all []T, podOf func(T) *corev1.Pod, o UpdateOptions) ([]T, error) {
	order, err := updateOrder(podsOf(all, podOf), o)
	return inOrder(all, order), err
}

// updateOrder is the order in which pods are to be updated, as places in the list.
func updateOrder(pods []*corev1.Pod, o UpdateOptions) ([]int32, error) {
	var order []int32
	if hasPriority(o.Priority) {
		var err error
		if order, err = priorityOrder(pods, o.Priority); err != nil {
			return nil, err
		}
	} else {
		keys := newSortKeys(pods)
		sortKeys(keys)
		order = orderOf(keys)
	}
	all := o.All
	if all == nil {
		all = pods
	}
	podAt := func(at int32) *corev1.Pod { return pods[at] }
	return preparingUpdateFirst(pods, scatter(order, podAt, all, o.Scatter)), nil
}

// preparingUpdateFirst brings the pods that have been announced to their
// inPlaceUpdate hook to the front, so that no more pods are announced instead.
func preparingUpdateFirst(pods []*corev1.Pod, order []int32) []int32 {
	if !slices.ContainsFunc(pods, preparingUpdate) {
		return order
	}
	preparing, others := split(order, func(at int32) bool { return preparingUpdate(pods[at]) })
	return append(preparing, others...)
}

func preparingUpdate(pod *corev1.Pod) bool {
	return pod.Labels[lifecyclev1alpha1.StateLabel] == string(lifecyclev1alpha1.StatePreparingUpdate)
}
