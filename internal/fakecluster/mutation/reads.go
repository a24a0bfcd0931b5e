// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"regexp"
	"sync"
	"testing"
)

// Reads are the fields that plans were found to depend on.
type Reads map[string]bool

// Require fails the test where fields are missing: then what was looked at is
// too dull to tell anything.
func (r Reads) Require(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if !r[path] {
			t.Errorf("nothing shows that %s is read", path)
		}
	}
}

// Plan is a function of an object, and the event filter in front of it.
type Plan[T any] struct {
	// What stands before the paths in Reads.
	What string
	// Copy copies an object.
	Copy func(*T) *T
	// Can tells which fields can change at all.
	Can *regexp.Regexp
	// Of describes the plan that comes of an object.
	Of func(*T) string
	// Matters tells whether a change may change the plan.
	Matters func(before, after *T) bool
}

// matched holds what matches has answered: objects of a kind have the same few paths.
var matched sync.Map

func matches(paths *regexp.Regexp, path string) bool {
	key := [2]string{paths.String(), path}
	known, ok := matched.Load(key)
	if !ok {
		known = paths.MatchString(path)
		matched.Store(key, known)
	}
	return known.(bool)
}

// Check checks that every change of an object that changes a plan matters, and
// notes in reads the fields whose changes do.
func (p Plan[T]) Check(t *testing.T, reads Reads, object *T) {
	t.Helper()
	before := p.Of(object)
	for _, m := range Of(object) {
		if !matches(p.Can, m.Path) {
			continue
		}
		after := p.Copy(object)
		m.Apply(after)
		ok := p.Matters(object, after)
		if ok && reads[p.What+m.Path] || p.Of(after) == before {
			continue
		}
		reads[p.What+m.Path] = true
		if !ok {
			t.Errorf("a change of %s changes the plan, and does not matter", m.Path)
		}
	}
}
