// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Snapshot is everything that a plan depends on: what was known at one moment. Its
// objects are shared with caches; nothing in this package changes them.
type Snapshot struct {
	// Pod is the pod. Required.
	Pod *corev1.Pod
	// Node is the node of the pod; nil if it is not known.
	Node *corev1.Node
	// Request is the request of the name RequestName; nil if there is none.
	Request *lifecyclev1alpha1.ContainerRecreateRequest
	// LeavePhase is Options.LeavePhase.
	LeavePhase bool
	// PhaseSeen is when this controller first saw that a controller, itself or another, had written
	// the phase of the pod; zero if never. (ST-15.2)
	PhaseSeen time.Time
	// Now is the time for which to plan.
	Now time.Time
}

// virtual tells whether no node agent runs on the node.
func (s *Snapshot) virtual() bool { return s.Node.Labels["type"] == "virtual-kubelet" }
