// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InPlaceUpdateStrategy tunes how a pod is updated in place.
type InPlaceUpdateStrategy struct {
	// GracePeriodSeconds is the time in seconds between a pod being marked not
	// ready and its containers being changed. Default 0: no waiting.
	// +optional
	GracePeriodSeconds int32 `json:"gracePeriodSeconds,omitempty"`
}

// UpdatePriorityStrategy says which pods are updated first. At most one of its
// lists may be set.
type UpdatePriorityStrategy struct {
	// OrderPriority sorts pods by the values of label keys.
	// +optional
	OrderPriority []UpdatePriorityOrderTerm `json:"orderPriority,omitempty"`
	// WeightPriority sorts pods by the sum of the weights of the terms that
	// they match, largest first.
	// +optional
	WeightPriority []UpdatePriorityWeightTerm `json:"weightPriority,omitempty"`
}

// UpdatePriorityOrderTerm names a label key whose value orders pods.
type UpdatePriorityOrderTerm struct {
	// OrderedKey is the label key. Pods are ordered by the integer at the end
	// of its value, largest first; a value without one counts as 0.
	OrderedKey string `json:"orderedKey"`
}

// UpdatePriorityWeightTerm gives the pods that match a selector a weight.
type UpdatePriorityWeightTerm struct {
	// Weight is between 0 and 100.
	Weight int32 `json:"weight"`
	// MatchSelector selects pods by their labels; it must not be empty.
	MatchSelector metav1.LabelSelector `json:"matchSelector"`
}

// UpdateScatterStrategy lists labels whose pods are spread over the whole
// update instead of being updated one after another.
type UpdateScatterStrategy []UpdateScatterTerm

// UpdateScatterTerm is one label to spread.
type UpdateScatterTerm struct {
	// Key is the key of a label.
	Key string `json:"key"`
	// Value is its value: the pods that have it are spread.
	Value string `json:"value"`
}
