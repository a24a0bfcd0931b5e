// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/readiness"
)

// sortKey is what pods are compared by, read from the pod once. Deletions and
// updates use the same order; updates leave some fields at zero.
type sortKey struct {
	name string
	node string
	// readySince and created are Unix times in seconds; an unknown time counts
	// as later than any other.
	readySince, created int64
	restarts            int32
	deletionCost        int32
	// index is the pod's place in the list that was given.
	index int32
	// stage says how far the pod got: the higher, the more it would be missed.
	stage uint8
}

// The bits of a stage, the deciding one first.
const (
	stageScheduled uint8 = 1 << 4
	stageRunning   uint8 = 1 << 3
	stageUnknown   uint8 = 1 << 2
	stageAvailable uint8 = 1 << 1
	stageReady     uint8 = 1 << 0
)

// newSortKeys reads the keys that deletions and updates share and, if costs count, the deletion costs.
func newSortKeys(pods []*corev1.Pod, costs bool) []*sortKey {
	backing, keys := make([]sortKey, len(pods)), make([]*sortKey, len(pods))
	for i, pod := range pods {
		k := &backing[i]
		keys[i] = k
		k.name, k.node, k.index = pod.Name, pod.Spec.NodeName, int32(i)
		k.created = seconds(pod.CreationTimestamp)
		if costs {
			k.deletionCost = deletionCost(pod)
		}
		if k.node != "" {
			k.stage |= stageScheduled
		}
		switch pod.Status.Phase {
		case corev1.PodRunning:
			k.stage |= stageRunning
		case corev1.PodUnknown:
			k.stage |= stageUnknown
		}
		ready := readiness.Condition(pod, corev1.PodReady)
		if ready != nil && ready.Status == corev1.ConditionTrue {
			k.stage |= stageReady
			k.readySince = seconds(ready.LastTransitionTime)
		}
		for j := range pod.Status.ContainerStatuses {
			k.restarts = max(k.restarts, pod.Status.ContainerStatuses[j].RestartCount)
		}
	}
	return keys
}

// compare orders pods by how little they would be missed, the least first, without those near them.
// (CS-25, CS-28)
func (k *sortKey) compare(other *sortKey) int {
	if k.stage != other.stage {
		return cmp.Compare(k.stage, other.stage)
	}
	if k.deletionCost != other.deletionCost {
		return cmp.Compare(k.deletionCost, other.deletionCost)
	}
	if k.readySince != other.readySince {
		return cmp.Compare(other.readySince, k.readySince)
	}
	if k.restarts != other.restarts {
		return cmp.Compare(other.restarts, k.restarts)
	}
	if k.created != other.created {
		return cmp.Compare(other.created, k.created)
	}
	return strings.Compare(k.name, other.name)
}

func sortKeys(keys []*sortKey) { slices.SortFunc(keys, (*sortKey).compare) }

// orderOf is the order of keys, as places in the list that was given.
func orderOf(keys []*sortKey) []int32 {
	order := make([]int32, len(keys))
	for i := range keys {
		order[i] = keys[i].index
	}
	return order
}

// inOrder returns a list in the order of its places.
func inOrder[T any](all []T, order []int32) []T {
	sorted := make([]T, len(order))
	for i, at := range order {
		sorted[i] = all[at]
	}
	return sorted
}

// podsOf returns the pod of each.
func podsOf[T any](all []T, podOf func(T) *corev1.Pod) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(all))
	for i := range all {
		pods[i] = podOf(all[i])
	}
	return pods
}

func seconds(t metav1.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	return t.Unix()
}
