// SPDX-License-Identifier: Apache-2.0

package toy

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
)

// Snapshot is what a plan depends on.
type Snapshot struct {
	Toy  *v1alpha1.Toy
	Pods []*corev1.Pod // of its namespace
}

// Plan is what to do for a toy.
type Plan struct{ Status v1alpha1.ToyStatus }

// NewPlan counts the pods that name the toy.
func NewPlan(s *Snapshot) *Plan {
	status := v1alpha1.ToyStatus{ObservedGeneration: s.Toy.Generation}
	for _, pod := range s.Pods {
		if pod.Labels["toy"] == s.Toy.Name {
			status.Pods++
		}
	}
	return &Plan{status}
}
