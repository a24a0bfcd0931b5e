// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// DeletionOptions tunes [SortForDeletion]. The zero value is fit for use.
type DeletionOptions struct {
	// Available says whether a pod counts as available; it is called once for
	// each pod. Nil does not tell pods apart by it.
	Available func(*corev1.Pod) bool
	// Constraints are those of the pod template. Without any, pods that share
	// a node go before those that are alone on theirs.
	Constraints []corev1.TopologySpreadConstraint
	// Topology returns the value of a node's label, "" if there is none or
	// the node is not known. It is called once for each pod and constraint. May
	// be nil, and then only the constraints on the host name count.
	Topology func(nodeName, key string) string
}

// SortForDeletion returns the pods in the order in which they are to be
// deleted: those first that would be missed least. What decides, in this order:
//
//   - no node before a node; the phase Pending before Unknown before Running
//   - unavailable, then not Ready
//   - the lower deletion cost (annotation controller.kubernetes.io/pod-deletion-cost)
//   - the more crowded place: the node, or what Constraints spread pods over
//   - Ready for the shorter time, more restarts, younger, and at last the name
//
// The places are judged by the given pods alone: give the pods of one
// revision, all of them that may be deleted. The pods and the list stay as they
// are. (CS-25)
func SortForDeletion(pods []*corev1.Pod, o DeletionOptions) []*corev1.Pod {
	return inOrder(pods, deletionOrder(pods, func(i int) bool { return o.Available != nil && o.Available(pods[i]) }, o))
}

// SortForDeletionOf is SortForDeletion for what has a pod each. available takes the
// place of o.Available.
func SortForDeletionOf[T any](all []T, podOf func(T) *corev1.Pod, available func(T) bool, o DeletionOptions) []T {
	return inOrder(all, deletionOrder(podsOf(all, podOf), func(i int) bool { return available(all[i]) }, o))
}

// deletionOrder is the order in which pods are to be deleted, as places in the list.
func deletionOrder(pods []*corev1.Pod, available func(i int) bool, o DeletionOptions) []int32 {
	keys := newSortKeys(pods, true)
	for i, k := range keys {
		if available(i) {
			k.stage |= stageAvailable
		}
	}
	sortKeys(keys)
	r := newRanking(keys)
	r.rank(o)
	order := make([]int32, len(keys))
	for i := range r.order {
		order[i] = keys[r.order[i].at].index
	}
	return order
}

// deletionCost returns the value of the annotation; 0 if there is none or
// if it is no int32 in its plain form.
func deletionCost(pod *corev1.Pod) int32 {
	value, ok := pod.Annotations[corev1.PodDeletionCost]
	if !ok || strings.HasPrefix(value, "+") || strings.HasPrefix(value, "0") {
		return 0
	}
	cost, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return 0
	}
	return int32(cost)
}
