// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// Object is an object of a cache.
type Object interface {
	runtime.Object
	metav1.Object
}

type change struct {
	version int64
	at      time.Time
	object  Object // the last one if it is gone
	before  Object // nil if it is new
	gone    bool
}

// record is everything that happened to a resource, decoded once for all
// caches, and the objects that there are. They are never changed.
type record struct {
	resource string
	empty    func() Object
	changes  []change
	objects  map[string]Object // by keyOf
	created  map[types.UID]int64
}

// keyOf is what a history calls an object: its name, behind that of its namespace if that is not the one of Web. Those of
// revisions are their own wherever they are.
func keyOf(resource, namespace, name string) string {
	if namespace == "" || namespace == Web.Namespace || resource == revisions {
		return name
	}
	return namespace + "/" + name
}

func keyOfObject(object Object) string {
	if _, is := object.(*appsv1.ControllerRevision); is {
		return object.GetName()
	}
	return keyOf("", object.GetNamespace(), object.GetName())
}

func newRecord(resource string, empty func() Object) *record {
	return &record{resource: resource, empty: empty, objects: map[string]Object{}, created: map[types.UID]int64{}}
}

// follow reads what has happened since it was called last.
func (r *record) follow(server *fakecluster.Server) error {
	since := int64(0)
	if n := len(r.changes); n > 0 {
		since = r.changes[n-1].version
	}
	for _, c := range server.Changes(r.resource, since) {
		object := r.empty()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(c.Object.Object, object); err != nil {
			return fmt.Errorf("decode %s %s: %w", r.resource, c.Object.GetName(), err)
		}
		key := keyOfObject(object)
		r.changes = append(r.changes, change{version: c.Version, at: time.Now(), object: object, before: r.objects[key], gone: c.Gone})
		if _, known := r.created[object.GetUID()]; !known {
			r.created[object.GetUID()] = c.Version
		}
		if c.Gone {
			delete(r.objects, key)
		} else {
			r.objects[key] = object
		}
	}
	return nil
}

func sorted[T Object](objects map[string]Object) []T {
	list := make([]T, 0, len(objects))
	for _, object := range objects {
		list = append(list, object.(T))
	}
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(keyOfObject(a), keyOfObject(b)) })
	return list
}

func versionString(version int64) string { return strconv.FormatInt(version, 10) }

// replica is what a process has seen of a resource: the past of the server, up
// to a point that moves as the seed says. It stands in the cache of an informer
// that never runs.
type replica struct {
	record   *record
	informer cache.SharedIndexInformer
	added    []func(Object) // called for objects that it sees for the first time
	at       int            // the changes that it has seen
	version  int64          // up to which it is complete
}

func newReplica(record *record) *replica {
	return &replica{record: record, informer: cache.NewSharedIndexInformer(&cache.ListWatch{}, record.empty(), 0, cache.Indexers{})}
}

func (c *replica) behind() int { return len(c.record.changes) - c.at }

// advance shows it the next change, as a watch does.
func (c *replica) advance() error {
	next := &c.record.changes[c.at]
	c.at++
	c.version = next.version
	if next.gone {
		return c.informer.GetIndexer().Delete(next.object)
	}
	isNew := len(c.added) > 0 && c.isNew(next.object)
	err := c.informer.GetIndexer().Update(next.object)
	if isNew {
		c.tell(next.object)
	}
	return err
}

// isNew tells whether it holds no object of that name and UID.
func (c *replica) isNew(object Object) bool {
	held, found, err := c.informer.GetIndexer().Get(object)
	return err != nil || !found || held.(Object).GetUID() != object.GetUID()
}

func (c *replica) tell(object Object) {
	for _, added := range c.added {
		added(object)
	}
}

// bookmark tells it how far it is, if it has seen everything.
func (c *replica) bookmark(version int64) {
	if c.behind() == 0 {
		c.version = version
		c.informer.GetIndexer().Bookmark(versionString(version))
	}
}

// relist fills it anew, as after a watch that was too old to go on.
func (c *replica) relist(version int64) error {
	objects := make([]any, 0, len(c.record.objects))
	var added []Object
	for _, object := range sorted[Object](c.record.objects) {
		objects = append(objects, object)
		if len(c.added) > 0 && c.isNew(object) {
			added = append(added, object)
		}
	}
	c.at, c.version = len(c.record.changes), version
	err := c.informer.GetIndexer().Replace(objects, versionString(version))
	for _, object := range added {
		c.tell(object)
	}
	return err
}

// view returns the objects that it holds by keyOf.
func (c *replica) view() map[string]Object {
	list := c.informer.GetIndexer().List()
	objects := make(map[string]Object, len(list))
	for _, each := range list {
		object := each.(Object)
		objects[keyOfObject(object)] = object
	}
	return objects
}
