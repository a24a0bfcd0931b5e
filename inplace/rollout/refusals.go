// SPDX-License-Identifier: Apache-2.0

package rollout

import (
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
