// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Marker is the PodProbeMarker. Required.
	Marker *v1alpha1.PodProbeMarker
	// Pods are those of its namespace whose labels it selects, in any order. They do not matter while it is being deleted.
	Pods []*corev1.Pod
	// Probed are the NodePodProbes that have probes of it, in any order. They matter while it is being deleted, and if it has probes
	// without a condition type.
	Probed []*v1alpha1.NodePodProbe
	// HeldSince is when what holds the marker up began, as far as a controller remembers. (PPM-2.7)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan.
	Now time.Time
}
