// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// SortByPriority returns the pods in the order that a priority strategy asks for.
//
// With weightPriority the pods with the larger sum of weights go first. With
// orderPriority the pods without any of the keys go first. Then come those
// with the first key, those with the second, and so on. Among the pods of one
// key the one with the larger integer at the end of the label's value goes
// first: "web-10" before "web-9". A value without one counts as 0. If both
// are set, weightPriority counts.
//
// Pods of equal priority are returned in the reverse of their order in the
// list, also if the strategy is nil or empty. Give the pods of a stateful
// workload by ascending ordinal, and others by name.
//
// A selector that is not valid is an error. The pods and the list stay as they
// are. (CS-29)
func SortByPriority(pods []*corev1.Pod, strategy *inplacev1alpha1.UpdatePriorityStrategy) ([]*corev1.Pod, error) {
	order, err := priorityOrder(pods, strategy)
	if err != nil {
		return nil, err
	}
	return inOrder(pods, order), nil
}

// SortByPriorityOf is SortByPriority for what has a pod each.
func SortByPriorityOf[T any](all []T, podOf func(T) *corev1.Pod, strategy *inplacev1alpha1.UpdatePriorityStrategy) ([]T, error) {
	order, err := priorityOrder(podsOf(all, podOf), strategy)
	if err != nil {
		return nil, err
	}
	return inOrder(all, order), nil
}

// priorityOrder is the order of pods by priority, as places in the list.
func priorityOrder(pods []*corev1.Pod, strategy *inplacev1alpha1.UpdatePriorityStrategy) ([]int32, error) {
	keys := make([]priorityKey, len(pods))
	for i := range keys {
		keys[i].index = int32(i)
	}
	switch {
	case !hasPriority(strategy):
	case len(strategy.WeightPriority) > 0:
		if err := weigh(keys, pods, strategy.WeightPriority); err != nil {
			return nil, err
		}
	default:
		for i, pod := range pods {
			keys[i].term, keys[i].value = orderTerm(pod, strategy.OrderPriority)
		}
	}
	slices.SortFunc(keys, priorityKey.compare)
	order := make([]int32, len(pods))
	for i, k := range keys {
		order[i] = k.index
	}
	return order, nil
}

func hasPriority(s *inplacev1alpha1.UpdatePriorityStrategy) bool {
	return s != nil && (len(s.WeightPriority) > 0 || len(s.OrderPriority) > 0)
}

// priorityKey is what pods are compared by, read from their labels once.
type priorityKey struct {
	value int64 // the larger goes first
	term  int32 // the smaller goes first
	index int32 // place in the list that was given; the larger goes first
}

func (k priorityKey) compare(other priorityKey) int {
	if k.term != other.term {
		return cmp.Compare(k.term, other.term)
	}
	if k.value != other.value {
		return cmp.Compare(other.value, k.value)
	}
	return cmp.Compare(other.index, k.index)
}

// weigh sets the value of each key to the sum of the weights that its pod matches.
func weigh(keys []priorityKey, pods []*corev1.Pod, terms []inplacev1alpha1.UpdatePriorityWeightTerm) error {
	for t := range terms {
		selector, err := metav1.LabelSelectorAsSelector(&terms[t].MatchSelector)
		if err != nil {
			return fmt.Errorf("priorityStrategy.weightPriority[%d].matchSelector: want a valid label selector: %w", t, err)
		}
		for i, pod := range pods {
			if selector.Matches(labels.Set(pod.Labels)) {
				keys[i].value += int64(terms[t].Weight)
			}
		}
	}
	return nil
}

// orderTerm returns the place of the first term whose key the pod has, counted from 1. It also returns the integer at the end of
// the label's value. Both are zero if the pod has none of the keys.
func orderTerm(pod *corev1.Pod, terms []inplacev1alpha1.UpdatePriorityOrderTerm) (term int32, value int64) {
	for i := range terms {
		if v, ok := pod.Labels[terms[i].OrderedKey]; ok {
			return int32(i) + 1, trailingInteger(v)
		}
	}
	return 0, 0
}

// trailingInteger returns the integer that the decimal digits at the end of s
// make: 0 if there are none, MaxInt64 if it is larger.
func trailingInteger(s string) int64 {
	start := len(s)
	for start > 0 && s[start-1] >= '0' && s[start-1] <= '9' {
		start--
	}
	var n int64
	for _, digit := range s[start:] {
		d := int64(digit - '0')
		if n > (math.MaxInt64-d)/10 {
			return math.MaxInt64
		}
		n = n*10 + d
	}
	return n
}
