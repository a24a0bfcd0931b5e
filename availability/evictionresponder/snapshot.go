// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Snapshot is everything that a plan depends on: what was known at one moment. Its objects
// are shared with caches; nothing in this package changes them.
type Snapshot struct {
	// Eviction is the Eviction. Required.
	Eviction *Eviction
	// Pod is the pod that has the name of the target now, whichever it is; nil if there is none.
	Pod *corev1.Pod
	// Confirmed says that Pod is what the API server itself has told, and not a cache. See
	// Plan.Confirm.
	Confirmed bool
	// Set is the CloneSet that controls Pod, and Pods are all pods that it owns, in any order. Nil: a
	// workload of another kind does, or none, or CloneSets are not read.
	Set  *workloadsv1alpha1.CloneSet
	Pods []*corev1.Pod
	// Answer is what the API server said last when it was asked to evict the pod. It is nil if
	// it was not asked, or before the last restart.
	Answer *Answer
	// RoomTimeout is that of the Options. 0 means DefaultRoomTimeout.
	RoomTimeout time.Duration
	// Now is the time for which to plan.
	Now time.Time
}

// Answer is what came of the request to evict a pod.
type Answer struct {
	// Until is when to ask again, if the pod is still there.
	Until time.Time
	// Denied says that a budget protects the pod (code 429).
	Denied bool
	// Message says it in words.
	Message string
}

// meant tells whether the pod is the one that is to be evicted.
func (s *Snapshot) meant() bool { return s.Pod != nil && s.Pod.UID == s.Eviction.Spec.Target.Pod.UID }

// own returns the state of this responder and the index of its report in the status; an empty state
// and -1 if there is none.
func own(e *Eviction) (state ResponderState, report int) {
	report = -1
	for i := range e.Status.TargetResponders {
		if e.Status.TargetResponders[i].Name == ResponderName {
			state = e.Status.TargetResponders[i].State
		}
	}
	for i := range e.Status.Responders {
		if e.Status.Responders[i].Name == ResponderName {
			report = i
		}
	}
	return state, report
}

// atWork tells whether it is this responder's turn. (EVR-1)
func atWork(e *Eviction) bool {
	state, report := own(e)
	return e.Spec.Target.Pod != nil && e.DeletionTimestamp == nil && state == ResponderActive && report >= 0 &&
		e.Status.Responders[report].CompletionTime == nil
}

// isOver tells whether it was this responder's turn, and is no more. (EVR-9)
func isOver(e *Eviction) bool {
	state, report := own(e)
	return e.Spec.Target.Pod != nil && report >= 0 &&
		(state == ResponderCanceled || state == ResponderInterrupted || state == ResponderCompleted)
}
