// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Reads are the fields that plans were found to depend on.
type Reads map[string]bool

// Require fails the test if fields are missing: then what was looked at is
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
	var rest []Mutation
	for _, m := range Of(object) {
		if !matches(p.Can, m.Path) {
			continue
		}
		after := p.Copy(object)
		m.Apply(after)
		switch {
		case !p.Matters(object, after):
			rest = append(rest, m)
		case !reads[p.What+m.Path] && p.Of(after) != before:
			reads[p.What+m.Path] = true
		}
	}
	seed := fnv.New64a()
	seed.Write([]byte(t.Name()))
	for _, path := range p.changing(object, rest, seed.Sum64()) {
		reads[p.What+path] = true
		t.Errorf("a change of %s changes the plan, and does not matter", path)
	}
}

// changing returns the paths of the changes that change the plan. If it takes several at
// once, it returns these as one path. The seed tells which changes are made at once. A plan may read one field only
// while another field has its present value. A check that changes both at once can miss that, so different checks have
// different seeds.
func (p Plan[T]) changing(object *T, changes []Mutation, seed uint64) (found []string) {
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	before := p.Of(object)
	for _, batch := range batches(changes) {
		if p.with(object, batch) == before {
			continue
		}
		known, together := len(found), []string(nil)
		for _, m := range batch {
			together = append(together, m.Path)
			if p.with(object, []Mutation{m}) != before {
				found = append(found, m.Path)
			}
		}
		if len(found) == known {
			found = append(found, strings.Join(together, " and "))
		}
	}
	return found
}

// with describes the plan that comes of an object with changes.
func (p Plan[T]) with(object *T, changes []Mutation) string {
	after := p.Copy(object)
	for _, m := range changes {
		m.Apply(after)
	}
	return p.Of(after)
}

// batchSize is how many changes are made at once that are expected to change no plan.
const batchSize = 16

// batches sorts changes into some of which none undoes another: the fields of a batch do
// not contain each other.
func batches(changes []Mutation) (all [][]Mutation) {
	for _, m := range changes {
		fits := slices.IndexFunc(all, func(batch []Mutation) bool {
			return len(batch) < batchSize && !slices.ContainsFunc(batch, func(other Mutation) bool {
				return strings.HasPrefix(m.Path, other.Path) || strings.HasPrefix(other.Path, m.Path)
			})
		})
		if fits < 0 {
			fits, all = len(all), append(all, nil)
		}
		all[fits] = append(all[fits], m)
	}
	return all
}

// CheckEach checks each of several objects, of which it describes the plan that comes of all of them.
func (p Plan[T]) CheckEach(t *testing.T, reads Reads, name string, objects []*T, of func([]*T) string) {
	t.Helper()
	for i, object := range objects {
		t.Run(fmt.Sprintf("%s, %d", name, i), func(t *testing.T) {
			p.Of = func(changed *T) string {
				all := slices.Clone(objects)
				all[i] = changed
				return of(all)
			}
			p.Check(t, reads, object)
		})
	}
}
