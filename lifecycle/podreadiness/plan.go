// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/workload"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// OwnersTime is how long after the creation of a pod its condition is left to
// the pod's workload, if that sets it by itself.
const OwnersTime = 10 * time.Second

// Snapshot is everything that a plan depends on. The pod is shared with a cache;
// nothing in this package changes it.
type Snapshot struct {
	// Pod is the pod. Required.
	Pod *corev1.Pod
	// Now is the time for which to plan.
	Now time.Time
}

// Plan is what to do about a pod now. The same Snapshot gives the same Plan.
type Plan struct {
	// Patch sets the condition; nil if nothing is to be done now.
	Patch *podpatch.Patch
	// RequeueAfter is the time after which to look again, 0 for never.
	RequeueAfter time.Duration
}

// NewPlan decides whether to set the condition of a pod to True. It does if the pod has
// the gate, has no such condition and is not being deleted. For a nil Snapshot, or one without
// a Pod, nothing is to be done. (PR-3)
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Pod == nil {
		return &Plan{}
	}
	var patch podpatch.Patch
	if !readiness.Initial(&patch, s.Pod, s.Now) {
		return &Plan{}
	}
	if wait := s.Pod.CreationTimestamp.Add(OwnersTime).Sub(s.Now); wait > 0 && leftToOwner(s.Pod) {
		return &Plan{RequeueAfter: wait}
	}
	return &Plan{Patch: &patch}
}

// leftToOwner tells whether the pod's controller sets the condition by itself.
func leftToOwner(pod *corev1.Pod) bool {
	kind := workload.ControllerKind(pod)
	return kind == workload.CloneSets || kind == workload.AdvancedStatefulSets
}
