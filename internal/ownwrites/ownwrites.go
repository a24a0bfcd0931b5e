// Package ownwrites lets a controller read its own writes: a pass over an
// object waits until the caches have seen everything that earlier passes over
// it wrote.
//
// What is remembered is one resourceVersion per object and resource, not a list
// of expected events; and of a write whose answer was lost, that there may be
// one. So an event that is lost in a relist, or a pod that is
// created and deleted again before the cache sees it, leaves nothing behind
// that would block the next pass forever.
package ownwrites

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Resource names one of the caches that a controller reads, "pods" for example.
type Resource string

// The caches that the controller of any workload reads, beside that of the
// workloads themselves.
const (
	Pods      Resource = "pods"
	Claims    Resource = "persistentvolumeclaims"
	Revisions Resource = "controllerrevisions"
)

// Seen returns the resourceVersion up to which a cache is known to be
// complete; empty when it cannot tell.
type Seen func(Resource) string

// Tracker remembers the newest write per object and resource. Its zero value
// is ready for use, by several goroutines.
type Tracker struct {
	lock   sync.Mutex
	writes map[types.NamespacedName]map[Resource]string
	lost   map[types.NamespacedName]map[thing]bool
}

// thing is what a write was about.
type thing struct {
	resource Resource
	name     string
}

// Wrote records that a pass over the object got resourceVersion back for a
// write. An empty or malformed version is ignored: nothing could be compared
// with it.
func (t *Tracker) Wrote(object types.NamespacedName, resource Resource, resourceVersion string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	newest := t.writes[object][resource]
	if newest == "" {
		newest = "1"
	}
	if order, err := resourceversion.CompareResourceVersion(resourceVersion, newest); err != nil || order < 0 {
		return
	}
	if t.writes == nil {
		t.writes = map[types.NamespacedName]map[Resource]string{}
	}
	if t.writes[object] == nil {
		t.writes[object] = map[Resource]string{}
	}
	t.writes[object][resource] = resourceVersion
}

// Lost records that a write of a pass over the object had no answer: it may
// have been made, on the thing of that name.
func (t *Tracker) Lost(object types.NamespacedName, resource Resource, name string) {
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
// any, before a pass plans anything new. For each of them, find returns the
// resourceVersion at which a cache shows it, empty where there is nothing to wait for. Where find
// fails, it is asked again by the next pass.
func (t *Tracker) Settle(object types.NamespacedName, find func(resource Resource, name string) (resourceVersion string, err error)) error {
	t.lock.Lock()
	lost := slices.SortedFunc(maps.Keys(t.lost[object]), func(a, b thing) int {
		return cmp.Or(cmp.Compare(a.resource, b.resource), cmp.Compare(a.name, b.name))
	})
	t.lock.Unlock()
	for _, l := range lost {
		version, err := find(l.resource, l.name)
		if err != nil {
			return fmt.Errorf("find out what became of a write of %s %s that had no answer: %w", l.resource, l.name, err)
		}
		t.Wrote(object, l.resource, version)
		t.lock.Lock()
		delete(t.lost[object], l)
		t.lock.Unlock()
	}
	return nil
}

// Pending says what a cache has yet to see before a pass over the object may
// start; empty when nothing is missing. What has been seen is forgotten.
func (t *Tracker) Pending(object types.NamespacedName, seen Seen) string {
	t.lock.Lock()
	defer t.lock.Unlock()
	for resource, wrote := range t.writes[object] {
		have := seen(resource)
		if order, err := resourceversion.CompareResourceVersion(wrote, have); err == nil && order > 0 {
			return fmt.Sprintf("the cache of %s is at resourceVersion %s, the last own write at %s", resource, have, wrote)
		}
	}
	delete(t.writes, object)
	return ""
}

// Forget drops what is remembered of an object that no longer exists.
func (t *Tracker) Forget(object types.NamespacedName) {
	t.lock.Lock()
	defer t.lock.Unlock()
	delete(t.writes, object)
	delete(t.lost, object)
}
