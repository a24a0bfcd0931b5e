// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
)

// Status says in which fields a kind, whose status is an S with conditions of type C, has what
// the statuses of all kinds have. Every kind has a type T of its own for the types
// of conditions. Fields that may be nil say so; all others are required. No method changes a status that it is given.
type Status[S, C any, T ~string] struct {
	DeepCopy func(*S) *S
	// Fields returns pointers into a status.
	Fields func(*S) StatusFields[C]
	// Condition returns pointers into a condition.
	Condition func(*C) Condition[T]
	// Negative names the types of conditions that are False if there is a problem; the
	// others are True. May be nil.
	Negative []T
	// Kept names the types of conditions that report no problem, in their order. They stand behind
	// the others, and stay as they are until count puts or drops them. May be nil.
	Kept []T
}

// StatusFields points to the fields of a status that all kinds have.
type StatusFields[C any] struct {
	ObservedGeneration *int64
	CollisionCount     **int32
	Conditions         *[]C
	// LabelSelector is nil if the kind has none.
	LabelSelector *string
}

// Condition points to the fields that the conditions of all workloads have.
type Condition[T ~string] struct {
	Type               *T
	Status             *corev1.ConditionStatus
	LastTransitionTime *metav1.Time
	Reason, Message    *string
}

// Plan returns the status to write after the observed one, nil if that stands.
// count fills in what the kind counts; it is called if there is an update
// revision.
func (k *Status[S, C, T]) Plan(p *Planner, observed *S, count func(*S)) *S {
	status := k.DeepCopy(observed)
	fields := k.Fields(status)
	*fields.ObservedGeneration = p.Workload.Object.GetGeneration()
	if fields.LabelSelector != nil && p.Selector != nil {
		*fields.LabelSelector = p.Selector.String()
	}
	if p.plan.Revisions.Update != nil {
		count(status)
	} else if p.Workload.Object.GetDeletionTimestamp() == nil {
		k.uncounted(status, p.Unreadable, p.At)
	}
	k.holdUp(p, observed, status)
	*fields.Conditions = append(k.conditions(observed, p.plan.Problems, p.At), k.kept(status)...)
	if k.Same(observed, status) {
		return nil
	}
	return status
}

// Same tells whether a status need not be written after another one. Another time at which a condition began is not worth a
// write. Another text about the same failure, or about what holds the workload up, is not worth one either. (CT-2, CS-40)
func (k *Status[S, C, T]) Same(a, b *S) bool {
	x, y := *a, *b
	atX, atY := k.Fields(&x).Conditions, k.Fields(&y).Conditions
	of, wanted := k.heldUp().ToCompare(*atX, *atY)
	*atX, *atY = nil, nil
	if len(of) != len(wanted) || !equality.Semantic.DeepEqual(&x, &y) {
		return false
	}
	for i := range of {
		c, w := k.Condition(&of[i]), k.Condition(&wanted[i])
		if *c.Type != *w.Type || *c.Status != *w.Status || *c.Reason != *w.Reason {
			return false
		}
		if *c.Message != *w.Message && (slices.Contains(k.Kept, *c.Type) || !sameFailure(*c.Message, *w.Message)) {
			return false
		}
	}
	return true
}

// Report returns a status with conditions for problems, in the place of those that
// it has. Conditions that stand in the observed status keep their time.
func (k *Status[S, C, T]) Report(status, observed *S, problems []rollout.Problem, now time.Time) *S {
	status = k.DeepCopy(status)
	k.unobserved(status, now)
	*k.Fields(status).Conditions = append(k.conditions(observed, problems, now), k.kept(status)...)
	return status
}

// Collided returns a status that counts one collision of revision names more. (CS-CR5)
func (k *Status[S, C, T]) Collided(observed *S, now time.Time) *S {
	status := k.DeepCopy(observed)
	k.unobserved(status, now)
	count := k.Fields(status).CollisionCount
	*count = ptr.To(ptr.Deref(*count, 0) + 1)
	return status
}

// conditions says what is wrong, in the order of the problems. It returns one condition per type, with the first problem of that
// type, and nil if there is none. Conditions that stand keep their time.
func (k *Status[S, C, T]) conditions(observed *S, problems []rollout.Problem, now time.Time) []C {
	var reported []string
	var out []C
	for _, problem := range problems {
		if slices.Contains(reported, problem.Condition) {
			continue
		}
		reported = append(reported, problem.Condition)
		since, value := metav1.NewTime(now.Truncate(time.Second)), corev1.ConditionTrue
		if slices.Contains(k.Negative, T(problem.Condition)) {
			value = corev1.ConditionFalse
		}
		standing := *k.Fields(observed).Conditions
		for i := range standing {
			if c := k.Condition(&standing[i]); *c.Type == T(problem.Condition) && *c.Status == value {
				since = *c.LastTransitionTime
			}
		}
		var condition C
		k.set(&condition, T(problem.Condition), value, since, "", problem.Err.Error())
		out = append(out, condition)
	}
	return out
}
