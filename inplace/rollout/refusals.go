// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"errors"
	"slices"
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
	// Now is when they were looked up.
	Now time.Time
	// Pods says why the last updates of pods were refused. If the order is open,
	// those pods are updated after all others.
	Pods map[types.UID]error
	// At is when they were refused; those that were longest ago are tried first.
	At map[types.UID]time.Time
	// Denied are the pods that budgets are known to protect: those whose updates a budget has refused, and others of the
	// same budget. They, too, are updated after all others. (CT-10)
	Denied map[types.UID]Denial
	// Err says it in short; nil if nothing was refused.
	Err error
	// Revision says why the revision of the present template cannot be written; nil if nothing is
	// known of that. No pod gets that revision then, and missing pods get the current one.
	Revision error
}

// Denial says that a budget keeps a pod from its update.
type Denial struct {
	// Budget is the name of the PodUnavailableBudget that the pod names; empty for none.
	Budget string
	// Since is when the budget refused an update last, of this pod or of another one.
	Since time.Time
	// Asked is when it refused that of this pod; zero if it was not asked.
	Asked time.Time
}

// Reason is why the pod waits.
func (d Denial) Reason() *Reason {
	what := "the budget"
	if d.Budget != "" {
		what = "PodUnavailableBudget " + d.Budget
	}
	return &Reason{Rule: RuleBudget, Message: what + " allows no update now; it is asked again every second"}
}

// ResizeError is the failure to resize a pod.
type ResizeError struct {
	// Unsupported says that this pod can never be resized: the API server does not know how,
	// or finds the request invalid. Otherwise it may be allowed later, by a quota for example.
	Unsupported bool
	// Begun says that the rest of the update was written before: the pod names its revision.
	Begun bool
	// Err is what the API server answered. Unwrap returns it.
	Err error
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

// Unsupported returns why a pod can never be resized, as the API server has said; nil if it
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

// RefusedLast returns what has a pod each in another order. Those whose updates were refused, or that exhausted budgets
// protect, come last. The others stay in the given order. Those that come last take turns: the longest refused is first, budgets
// before their pods. Those that the API server has refused are behind all until they may be tried. The given slice is not
// changed. (CT-10)
func RefusedLast[T any](r *Refusals, all []T, podOf func(T) *corev1.Pod) []T {
	if len(r.Pods) == 0 && len(r.Denied) == 0 {
		return all
	}
	ordered, last := make([]T, 0, len(all)), []T(nil)
	for _, one := range all {
		if r.Refused(podOf(one)) {
			last = append(last, one)
		} else {
			ordered = append(ordered, one)
		}
	}
	slices.SortStableFunc(last, func(a, b T) int {
		x, y := r.turn(podOf(a)), r.turn(podOf(b))
		return cmp.Or(r.backOff(podOf(a))-r.backOff(podOf(b)), x.Since.Compare(y.Since), x.Asked.Compare(y.Asked))
	})
	return append(ordered, last...)
}

// Refused tells whether a pod comes after all others.
func (r *Refusals) Refused(pod *corev1.Pod) bool {
	_, denied := r.Denied[pod.UID]
	return denied || r.Pods[pod.UID] != nil
}

// backOff is 1 if the update of a pod was refused a moment ago, otherwise 0.
func (r *Refusals) backOff(pod *corev1.Pod) int {
	if r.Pods[pod.UID] != nil && r.Now.Before(r.Until) {
		return 1
	}
	return 0
}

// turn is when a pod that was refused is tried again, compared with others.
func (r *Refusals) turn(pod *corev1.Pod) Denial {
	turn := r.Denied[pod.UID]
	if at, refused := r.At[pod.UID]; refused && at.After(turn.Since) {
		return Denial{Since: at, Asked: at}
	}
	return turn
}
