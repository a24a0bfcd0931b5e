// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Snapshot is everything that a plan depends on: what was known at one moment.
// Its objects are shared with caches; nothing in this package changes them.
type Snapshot struct {
	// Request is the request. Required.
	Request *v1alpha1.ContainerRecreateRequest
	// Pod is the pod that has the name now, whichever it is; nil if there
	// is none.
	Pod *corev1.Pod
	// Confirmed says that Pod is what the API server itself has told, and not
	// a cache. See Plan.Confirm.
	Confirmed bool
	// Seen is since when the controller knows of the request, by its own clock, if
	// it has known it before its completion. The times in the request are those of
	// other clocks. Zero: they are all there is to go by.
	Seen time.Time
	// Silent is since when it has been the turn of the node agent, which has not
	// taken it. The controller knows it by its own clock. Zero: it is not. See
	// Turn.
	Silent time.Time
	// HeldSince is when what holds the request up began, as far as a controller remembers. (CRR-7)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan.
	Now time.Time
}

// over tells whether nothing remains to be done but to clean up.
func (s *Snapshot) over() bool {
	return s.Request.DeletionTimestamp != nil || s.Request.Status.CompletionTime != nil
}

// meant tells whether the pod is the one that the request was created for.
func (s *Snapshot) meant() bool {
	return s.Pod != nil && s.Pod.UID == types.UID(s.Request.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel])
}

// leaving tells whether the pod is being deleted.
func (s *Snapshot) leaving() bool { return s.Pod.DeletionTimestamp != nil }

// static tells whether the pod is the mirror of a static one, which has another UID
// for the kubelet than for the API server. A pod is one from its creation on.
func (s *Snapshot) static() bool { return isMirror(s.Pod) }

func isMirror(pod *corev1.Pod) bool {
	_, is := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return is
}

// key is what the request puts on the condition KruisePodReady.
func (s *Snapshot) key() readiness.Key {
	return readiness.Key{
		UserAgent: v1alpha1.ContainerRecreateRequestUserAgent,
		Key:       s.Request.Namespace + "/" + s.Request.Name,
	}
}

// doubtful tells whether a plan would draw from the pod, or from its absence,
// what cannot be taken back.
func (s *Snapshot) doubtful() bool {
	switch {
	case !s.over():
		return !s.meant()
	case !hasFinalizer(s.Request):
		return false
	case s.Pod == nil:
		return true
	case s.meant() && (s.leaving() || !readiness.HasGate(s.Pod, v1alpha1.KruisePodReady)):
		return false // and so it stays
	}
	return !listed(s.Pod, s.key())
}

func listed(pod *corev1.Pod, key readiness.Key) bool {
	return slices.Contains(readiness.Keys(pod), key)
}

func hasFinalizer(request *v1alpha1.ContainerRecreateRequest) bool {
	return slices.Contains(request.Finalizers, v1alpha1.ContainerRecreateRequestUnreadyAcquiredFinalizer)
}
