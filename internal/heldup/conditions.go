// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// Conditions reads and writes [Condition] in lists of conditions of a type C, of which each kind has its own. No method changes a
// list that it is given.
type Conditions[C any] struct {
	// Read returns the type of a condition, and what it says. Required.
	Read func(*C) (of string, told Told)
	// Make returns the condition of the type [Condition] that says something, with the status True. Required for Put and Tell.
	Make func(Told) C
}

// Kubernetes reads and writes the conditions of Kubernetes' own type.
var Kubernetes = Conditions[metav1.Condition]{
	Read: func(c *metav1.Condition) (string, Told) {
		return c.Type, Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
	},
	Make: func(t Told) metav1.Condition {
		return metav1.Condition{Type: Condition, Status: metav1.ConditionTrue, Reason: t.Reason, Message: t.Message, LastTransitionTime: metav1.NewTime(t.Since)}
	},
}

// Told returns what a list says holds the object up; nil for nothing.
func (k Conditions[C]) Told(of []C) *Told {
	for i := range of {
		if kind, told := k.Read(&of[i]); kind == Condition {
			return &told
		}
	}
	return nil
}

// Put returns a list that says told, and nothing for nil, in the place of what it says. The condition stands last.
func (k Conditions[C]) Put(in []C, told *Told) []C {
	if told == nil && k.Told(in) == nil {
		return in
	}
	out := k.without(in)
	if told != nil {
		out = append(out, k.Make(*told))
	}
	return out
}

// Tell returns a list that says what [Tell] chooses of the holds. The condition that stands in the list counts.
func (k Conditions[C]) Tell(in []C, holds []rollout.Wait, known Since, now time.Time) []C {
	return k.Put(in, Tell(holds, known, k.Told(in), now))
}

// ToCompare returns the lists without the condition, if the one that is to be written says no more than the one that stands, see
// same. Otherwise it returns them unchanged. If the results are equal, nothing need be written.
func (k Conditions[C]) ToCompare(standing, wanted []C) (before, after []C) {
	if was, is := k.Told(standing), k.Told(wanted); was != nil && is != nil && same(was, is) {
		return k.without(standing), k.without(wanted)
	}
	return standing, wanted
}

// without returns a copy of a list that does not have the condition.
func (k Conditions[C]) without(list []C) []C {
	return slices.DeleteFunc(slices.Clone(list), func(c C) bool {
		kind, _ := k.Read(&c)
		return kind == Condition
	})
}
