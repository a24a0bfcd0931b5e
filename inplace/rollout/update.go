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
	// KeepOrder has pods of equal priority go in the order that there is without a priority. Default false: in
	// the reverse of their order in the list. (CS-46)
	KeepOrder bool
	// NonePreparing says that no pod is in the lifecycle state PreparingUpdate, if the caller knows. Otherwise
	// all pods are looked at for that.
	NonePreparing bool
}

// SortForUpdate returns the pods in the order in which they are to be updated.
//
// Without options those go first that serve least. The order is: no node before a node, the phase Pending before Unknown before
// Running, not Ready before Ready. Then come the pods that are Ready for the shorter time, those with more restarts, and the
// younger ones. At last the name decides. A priority replaces this order by that of [SortByPriority]; scattering then puts some
// pods elsewhere. Pods in the lifecycle state PreparingUpdate always go first.
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
	order, err := orderByPriority(pods, o)
	if err != nil {
		return nil, err
	}
	all := o.All
	if all == nil {
		all = pods
	}
	podAt := func(at int32) *corev1.Pod { return pods[at] }
	order = scatter(order, podAt, all, o.Scatter)
	if o.NonePreparing {
		return order, nil
	}
	return preparingUpdateFirst(pods, order), nil
}

// orderByPriority is the order of pods before any are scattered.
func orderByPriority(pods []*corev1.Pod, o UpdateOptions) ([]int32, error) {
	if hasPriority(o.Priority) && !o.KeepOrder {
		return priorityOrder(pods, o.Priority)
	}
	keys := newSortKeys(pods, false)
	sortKeys(keys)
	order := orderOf(keys)
	if !hasPriority(o.Priority) {
		return order, nil
	}
	slices.Reverse(order) // equal ones are turned round once more
	first, err := priorityOrder(inOrder(pods, order), o.Priority)
	if err != nil {
		return nil, err
	}
	return inOrder(order, first), nil
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
