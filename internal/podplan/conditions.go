// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Problem is an error, and the type of the condition that reports it.
type Problem[T ~string] struct {
	Condition T
	Err       error
}

// AnyProblem is any type with the fields of a Problem: workloads have their own.
type AnyProblem[T ~string] interface {
	~struct {
		Condition T
		Err       error
	}
}

// Conditions says what is wrong, one condition per type with the first problem of
// its kind, in the order of the problems; nil where there is none. Conditions
// that stand keep their time. C is the workload's type of conditions, which
// read and write convert.
func Conditions[P AnyProblem[T], T ~string, C any](
	old []C, problems []P, now metav1.Time, read func(C) Condition[T], write func(Condition[T]) C,
) []C {
	var reported []T
	var out []C
	for i := range problems {
		problem := Problem[T](problems[i])
		if slices.Contains(reported, problem.Condition) {
			continue
		}
		reported = append(reported, problem.Condition)
		c := Condition[T]{
			Type: problem.Condition, Status: corev1.ConditionTrue,
			LastTransitionTime: now, Message: problem.Err.Error(),
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
