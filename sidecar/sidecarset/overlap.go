// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// overlap tells whether two selectors may match the same labels. They do unless a key
// that stands in both proves otherwise, or one wants a key that the other does not
// mention. Empty ones match nothing. (SCS-V4)
func overlap(a, b *metav1.LabelSelector) bool {
	if a == nil || b == nil {
		return false
	}
	mine, theirs := requirements(a), requirements(b)
	return !disjoint(mine, theirs) && !disjoint(theirs, mine)
}

// requirement is what a selector wants of a key.
type requirement struct {
	in     sets.Set[string] // one of the values in it; nil: any
	notIn  sets.Set[string]
	exists bool // it wants the key to be there, and says no more
	absent bool
}

// present tells whether the key must be there.
func (r *requirement) present() bool { return r.in != nil || r.exists }

func requirements(s *metav1.LabelSelector) map[string]*requirement {
	all := map[string]*requirement{}
	at := func(key string) *requirement {
		if all[key] == nil {
			all[key] = &requirement{}
		}
		return all[key]
	}
	for key, value := range s.MatchLabels {
		at(key).oneOf(value)
	}
	for _, e := range s.MatchExpressions {
		switch r := at(e.Key); e.Operator {
		case metav1.LabelSelectorOpIn:
			r.oneOf(e.Values...)
		case metav1.LabelSelectorOpNotIn:
			r.notIn = r.notIn.Union(sets.New(e.Values...))
		case metav1.LabelSelectorOpExists:
			r.exists = true
		case metav1.LabelSelectorOpDoesNotExist:
			r.absent = true
		}
	}
	return all
}

func (r *requirement) oneOf(values ...string) {
	if r.in == nil {
		r.in = sets.New(values...)
		return
	}
	r.in = r.in.Intersection(sets.New(values...))
}

// disjoint tells whether a key proves that nothing matches both.
func disjoint(mine, theirs map[string]*requirement) bool {
	for key, a := range mine {
		b := theirs[key]
		switch {
		case a.exists && (b == nil || !b.present()):
			return true
		case b == nil:
		case a.in != nil && b.in != nil && a.in.Intersection(b.in).Len() == 0,
			a.in != nil && b.notIn.IsSuperset(a.in),
			a.absent && b.present():
			return true
		}
	}
	return false
}
