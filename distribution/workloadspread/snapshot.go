// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// Snapshot is everything that a plan depends on: what was known at one moment. Its
// objects are shared with caches; nothing in this package changes them.
type Snapshot struct {
	// Spread is the WorkloadSpread. Required.
	Spread *v1alpha1.WorkloadSpread
	// Others are the other WorkloadSpreads that are of its pods. If one of them has its workload, nothing else is read. (WS-22)
	Others []*v1alpha1.WorkloadSpread
	// Workload is the one that it names; nil if there is none.
	Workload *spread.Workload
	// Pods are the pods of the workload, by name.
	Pods []*corev1.Pod
	// Nodes are those of pods that may be adopted, by name. What is missing is not known.
	Nodes map[string]*corev1.Node
	// Custom tells that its kind is one of Options.Custom.
	Custom bool
	// Unread tells that no informer is for the kind of the workload.
	Unread bool
	// HeldSince is when what holds the subsets up began, as far as a controller remembers. (WS-32)
	HeldSince map[rollout.Subject]time.Time
	// Moved is when a controller has deleted pods of the workload lately, the oldest first, as far as it remembers. (WS-36)
	Moved []time.Time
	// NotMoved are pods that it could not delete when it tried last. (WS-36)
	NotMoved map[types.UID]bool
	// Now is the time for which to plan.
	Now time.Time
}

// holder is another WorkloadSpread that has the workload; nil if this one has it. (WS-22)
func (s *Snapshot) holder() *v1alpha1.WorkloadSpread {
	if len(s.Others) == 0 || s.Spread.Spec.TargetReference == nil {
		return nil
	}
	if holder := spread.Holder(append(slices.Clone(s.Others), s.Spread), nil); holder != s.Spread {
		return holder
	}
	return nil
}
