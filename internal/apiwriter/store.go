// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/podwright/podwright"
)

// Synced returns the resourceVersion up to which a cache is known to be
// complete; empty when it cannot tell.
type Synced func(podwright.Resource) string

// Store remembers the newest write per object and resource. Its zero value
// is ready for use, by several goroutines.
type Store struct {
	lock    sync.Mutex
	writes  map[types.NamespacedName]map[podwright.Resource]string
	since   map[types.NamespacedName]time.Time // when it was first found that a cache lacks a write
	lost    map[types.NamespacedName]map[thing]bool
	created map[types.NamespacedName]map[Creation]bool
	leaving map[types.NamespacedName]map[podwright.Resource]*leaving

	// Contests are the writes that other writers took back.
	Contests Contests
}

// leaving are things of a resource that are gone, and that a cache still showed.
type leaving struct {
	names         map[string]bool
	wrote, before string // what is waited for because of them, and what would be without them
}

// thing is what a write was about.
type thing struct {
	resource podwright.Resource
	name     string
}

// Wrote records that a reconcile of the object got resourceVersion back for a
// write. An empty version is ignored: there is nothing to wait for.
func (t *Store) Wrote(object types.NamespacedName, resource podwright.Resource, resourceVersion string) {
	if resourceVersion == "" {
		return
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	if newest := t.writes[object][resource]; newest != "" {
		if order, err := resourceversion.CompareResourceVersion(resourceVersion, newest); err == nil && order < 0 {
			return
		}
	}
	if t.writes == nil {
		t.writes = map[types.NamespacedName]map[podwright.Resource]string{}
	}
	if t.writes[object] == nil {
		t.writes[object] = map[podwright.Resource]string{}
	}
	t.writes[object][resource] = resourceVersion
}

// Lost records that a write of a reconcile of the object had no answer: it may
// have been made, on the thing of that name.
func (t *Store) Lost(object types.NamespacedName, resource podwright.Resource, name string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.lost == nil {
		t.lost = map[types.NamespacedName]map[thing]bool{}
	}
	if t.lost[object] == nil {
		t.lost[object] = map[thing]bool{}
	}
	t.lost[object][thing{resource, name}] = true
}

// Settle finds out what became of the writes that had no answer, if there are
// any, before a reconcile plans anything new. For each of them, find returns the
// resourceVersion at which a cache shows it, empty if there is nothing to wait for. If the thing is gone,
// the cache shows it then at the latest: see Left. If find fails, it is asked again by the next reconcile.
func (t *Store) Settle(object types.NamespacedName, find func(resource podwright.Resource, name string) (resourceVersion string, gone bool, err error)) error {
	t.lock.Lock()
	lost := slices.SortedFunc(maps.Keys(t.lost[object]), func(a, b thing) int {
		return cmp.Or(cmp.Compare(a.resource, b.resource), cmp.Compare(a.name, b.name))
	})
	t.lock.Unlock()
	for _, l := range lost {
		version, gone, err := find(l.resource, l.name)
		if err != nil {
			return fmt.Errorf("find out what became of a write of %s %s that had no answer: %w", l.resource, l.name, err)
		}
		if gone {
			t.leaves(object, l, version)
		} else {
			t.Wrote(object, l.resource, version)
		}
		t.lock.Lock()
		delete(t.lost[object], l)
		t.lock.Unlock()
	}
	return nil
}

// leaves waits for a version as Wrote does, until Left finds that a cache no longer shows the thing.
func (t *Store) leaves(object types.NamespacedName, gone thing, version string) {
	t.lock.Lock()
	before := t.writes[object][gone.resource]
	t.lock.Unlock()
	t.Wrote(object, gone.resource, version)
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.leaving == nil {
		t.leaving = map[types.NamespacedName]map[podwright.Resource]*leaving{}
	}
	if t.leaving[object] == nil {
		t.leaving[object] = map[podwright.Resource]*leaving{}
	}
	l := t.leaving[object][gone.resource]
	if l == nil || l.wrote != before {
		l = &leaving{names: map[string]bool{}, before: before}
		t.leaving[object][gone.resource] = l
	}
	l.names[gone.name], l.wrote = true, t.writes[object][gone.resource]
}

// Left waits no more for what is gone once the caches do not show it. A cache of which nothing else changes learns only from a
// bookmark, a minute later, how far the API server had come by then. (CT-13)
func (t *Store) Left(object types.NamespacedName, shown func(resource podwright.Resource, name string) (bool, error)) error {
	t.lock.Lock()
	waits := maps.Clone(t.leaving[object])
	t.lock.Unlock()
	for resource, l := range waits {
		shows, err := false, error(nil)
		for name := range l.names {
			if shows, err = shown(resource, name); shows || err != nil {
				break
			}
		}
		if err != nil {
			return err
		}
		if shows {
			continue
		}
		t.lock.Lock()
		if t.writes[object][resource] == l.wrote { // nothing was written since
			delete(t.writes[object], resource)
			if l.before != "" {
				t.writes[object][resource] = l.before
			}
		}
		delete(t.leaving[object], resource)
		t.lock.Unlock()
	}
	return nil
}

// Creation is an object that was created on behalf of another one.
type Creation struct {
	Resource podwright.Resource
	Name     string
	// Owner is the UID of the object on whose behalf it was created.
	Owner types.UID
}

// Created records that a reconcile of the object created another one.
func (t *Store) Created(object types.NamespacedName, c Creation) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.created == nil {
		t.created = map[types.NamespacedName]map[Creation]bool{}
	}
	if t.created[object] == nil {
		t.created[object] = map[Creation]bool{}
	}
	t.created[object][c] = true
}

// Unseen returns what was created, sorted, and a cache that is at the synced resourceVersion
// does not show. The rest is forgotten. It is called by the one reconcile of the object, and asks
// shown while other objects go on.
func (t *Store) Unseen(object types.NamespacedName, shown func(podwright.Resource, string) bool) []Creation {
	t.lock.Lock()
	created := slices.Collect(maps.Keys(t.created[object]))
	t.lock.Unlock()
	if len(created) == 0 {
		return nil
	}
	unseen := slices.DeleteFunc(slices.Clone(created), func(c Creation) bool { return shown(c.Resource, c.Name) })
	t.lock.Lock()
	defer t.lock.Unlock()
	if len(unseen) == 0 {
		delete(t.created, object)
		return nil
	}
	left := make(map[Creation]bool, len(unseen))
	for _, c := range unseen {
		left[c] = true
	}
	if t.created[object] != nil { // otherwise the object was forgotten meanwhile
		t.created[object] = left
	}
	slices.SortFunc(unseen, func(a, b Creation) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Name, b.Name))
	})
	return unseen
}

// Missing is a write that a cache has yet to see. Its zero value is none.
type Missing struct {
	Resource podwright.Resource
	// have is how far the cache is, Wrote the version of the write.
	have, Wrote string
	// For is how long that has been known.
	For time.Duration
}

func (m Missing) String() string {
	return fmt.Sprintf("the cache of %s is at resourceVersion %s, the last own write at %s", m.Resource, m.have, m.Wrote)
}

// Pending says which write a cache lacks before a reconcile of the object may
// start. What the caches have is forgotten. Caches that cannot tell how far they
// are are not waited for; versions that cannot be compared are an error.
func (t *Store) Pending(object types.NamespacedName, synced Synced, now time.Time) (Missing, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	for resource, wrote := range t.writes[object] {
		have := synced(resource)
		if have == "" {
			continue
		}
		order, err := resourceversion.CompareResourceVersion(wrote, have)
		if err != nil {
			return Missing{}, fmt.Errorf("the cache of %s is at resourceVersion %q, the last own write at %q, which cannot be compared: "+
				"an API server is needed whose versions are numbers: %w", resource, have, wrote, err)
		}
		if order > 0 {
			if t.since == nil {
				t.since = map[types.NamespacedName]time.Time{}
			}
			if t.since[object].IsZero() {
				t.since[object] = now
			}
			return Missing{Resource: resource, have: have, Wrote: wrote, For: now.Sub(t.since[object])}, nil
		}
	}
	delete(t.writes, object)
	delete(t.since, object)
	delete(t.leaving, object)
	return Missing{}, nil
}

// Reset waits for another version than that of the last write; empty for none.
func (t *Store) Reset(object types.NamespacedName, resource podwright.Resource, resourceVersion string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	delete(t.since, object)
	delete(t.writes[object], resource)
	if resourceVersion != "" && t.writes[object] != nil {
		t.writes[object][resource] = resourceVersion
	}
}

// Forget drops what is remembered of an object that no longer exists.
func (t *Store) Forget(object types.NamespacedName) {
	t.Contests.Forget(object)
	t.lock.Lock()
	defer t.lock.Unlock()
	delete(t.writes, object)
	delete(t.since, object)
	delete(t.lost, object)
	delete(t.created, object)
	delete(t.leaving, object)
}
