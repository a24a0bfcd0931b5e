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

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// Object is an object of a cache.
type Object interface {
	runtime.Object
	metav1.Object
}

// change is one version of an object.
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

// keyOfObject is keyOf of an object.
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

// sorted returns the objects by keyOf.
func sorted[T Object](objects map[string]Object) []T {
	list := make([]T, 0, len(objects))
	for _, object := range objects {
		list = append(list, object.(T))
	}
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(keyOfObject(a), keyOfObject(b)) })
	return list
}

func versionString(version int64) string { return strconv.FormatInt(version, 10) }
