// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Refusals are the updates in place that the API server has refused, as far as a
// controller remembers. The zero Refusals are none.
type Refusals struct {
	// Until is when the next update in place of the workload may be tried. Zero,
	// as any time that has come, stands for now.
	Until time.Time
	// Pods says why the last updates of pods were refused. Where the order is open,
	// those pods are updated after all others.
	Pods map[types.UID]error
	// Err says it in short; nil where nothing was refused.
	Err error
	// Revision says why the revision of the present template cannot be written; nil where nothing is
	// known of that. No pod gets that revision then, and missing pods get the current one.
	Revision error
}

// ResizeError is the failure to resize a pod.
type ResizeError struct {
	// Unsupported says that this pod can never be resized: the API server does not know how,
	// or finds the request invalid. Otherwise it may be allowed later, by a quota for example.
	Unsupported bool
	// Begun says that the rest of the update was written before: the pod names its revision.
	Begun bool
	Err   error
}

// Error says it in words.
func (e *ResizeError) Error() string {
	if e.Unsupported {
		return "the API server cannot resize the pod: " + e.Err.Error()
	}
	return "resize: " + e.Err.Error()
}

// Unwrap returns the error of the API server.
func (e *ResizeError) Unwrap() error { return e.Err }

// Unsupported returns why a pod can never be resized, as the API server has said; nil where it
// has not.
func (r *Refusals) Unsupported(pod *corev1.Pod) error {
	var refused *ResizeError
	if len(r.Pods) > 0 && errors.As(r.Pods[pod.UID], &refused) && refused.Unsupported {
		return refused
	}
	return nil
}

// Any tells whether a refusal is remembered.
func (r *Refusals) Any() bool { return !r.Until.IsZero() }

// Last returns the pods with those whose updates were refused behind the others,
// otherwise in the given order. The given slice is not changed.
func (r *Refusals) Last(pods []*corev1.Pod) []*corev1.Pod {
	return LastOf(r, pods, func(pod *corev1.Pod) *corev1.Pod { return pod })
}

// LastOf is Refusals.Last for what has a pod each.
func LastOf[T any](r *Refusals, all []T, podOf func(T) *corev1.Pod) []T {
	if len(r.Pods) == 0 {
		return all
	}
	ordered := make([]T, 0, len(all))
	for _, refused := range []bool{false, true} {
		for _, one := range all {
			if (r.Pods[podOf(one).UID] != nil) == refused {
				ordered = append(ordered, one)
			}
		}
	}
	return ordered
}
