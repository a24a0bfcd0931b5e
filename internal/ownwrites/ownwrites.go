// Package ownwrites lets a controller read its own writes: a pass over an
// object waits until the caches have seen everything that earlier passes over
// it wrote.
//
// What is remembered is one resourceVersion per object and resource, not a list
// of expected events. So an event that is lost in a relist, or a pod that is
// created and deleted again before the cache sees it, leaves nothing behind
// that would block the next pass forever.
package ownwrites

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Resource names one of the caches that a controller reads, "pods" for example.
type Resource string

// Seen returns the resourceVersion up to which a cache is known to be
// complete; empty when it cannot tell.
type Seen func(Resource) string

// Tracker remembers the newest write per object and resource. Its zero value
// is ready for use, by several goroutines.
type Tracker struct {
	lock   sync.Mutex
	writes map[types.NamespacedName]map[Resource]string
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
}
