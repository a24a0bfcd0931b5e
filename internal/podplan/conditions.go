// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// Condition has the fields that the conditions of all workloads have. Every
// kind has a type of its own for them, which Go converts to this one and back.
type Condition[T ~string] struct {
	Type               T
	Status             corev1.ConditionStatus
	LastTransitionTime metav1.Time
	Reason             string
	Message            string
}

// Conditions says what is wrong, one condition per type with the first problem of
// its kind, in the order of the problems; nil where there is none. Conditions
// that stand keep their time. C is the workload's type of conditions, which
// read and write convert.
func Conditions[T ~string, C any](
	old []C, problems []rollout.Problem, now time.Time, read func(C) Condition[T], write func(Condition[T]) C,
) []C {
	var reported []string
	var out []C
	for _, problem := range problems {
		if slices.Contains(reported, problem.Condition) {
			continue
		}
		reported = append(reported, problem.Condition)
		c := Condition[T]{
			Type: T(problem.Condition), Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)), Message: problem.Err.Error(),
		}
		for j := range old {
			if before := read(old[j]); before.Type == c.Type && before.Status == c.Status {
				c.LastTransitionTime = before.LastTransitionTime
			}
		}
		out = append(out, write(c))
	}
	return out
}

// SameConditions tells whether conditions say the same: when one began is not
// worth a write of its own.
func SameConditions[T ~string, C any](a, b []C, read func(C) Condition[T]) bool {
	return slices.EqualFunc(a, b, func(a, b C) bool {
		x, y := read(a), read(b)
		return x.Type == y.Type && x.Status == y.Status && x.Message == y.Message
	})
}
