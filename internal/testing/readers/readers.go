// SPDX-License-Identifier: Apache-2.0

// Package readers has what Reconcilers read in tests: objects in memory, and what tells when they read.
package readers

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright"
)

// Memory is a podwright.Reader of the objects that a test puts there. A resource that it lacks has no cache. It has no indexes, and
// cannot tell how far it is.
type Memory map[podwright.Resource][]metav1.Object

// Open has nothing to do.
func (Memory) Open(podwright.Resource, runtime.Object, ...podwright.Index) error { return nil }

// SyncedResourceVersion returns nothing.
func (Memory) SyncedResourceVersion(podwright.Resource) string { return "" }

// Get returns an object.
func (m Memory) Get(resource podwright.Resource, namespace, name string) (any, error) {
	objects, err := m.List(resource, namespace)
	for _, object := range objects {
		if object.(metav1.Object).GetName() == name {
			return object, nil
		}
	}
	if err == nil {
		err = apierrors.NewNotFound(schema.GroupResource{Resource: string(resource)}, name)
	}
	return nil, err
}

// List returns the objects of a namespace, empty for all.
func (m Memory) List(resource podwright.Resource, namespace string) (found []any, err error) {
	objects, known := m[resource]
	if !known {
		return nil, &meta.NoResourceMatchError{PartialResource: schema.GroupVersionResource{Resource: string(resource)}}
	}
	for _, object := range objects {
		if namespace == metav1.NamespaceAll || object.GetNamespace() == namespace {
			found = append(found, object)
		}
	}
	return found, nil
}

// ByIndex returns the objects for which an index has a key.
func (m Memory) ByIndex(resource podwright.Resource, namespace string, index podwright.Index, key string) (found []any, err error) {
	objects, err := m.List(resource, namespace)
	for _, object := range objects {
		keys, err := index.Keys(object)
		if err != nil {
			return nil, fmt.Errorf("index %s of %s: %w", index.Name, resource, err)
		}
		if slices.Contains(keys, key) {
			found = append(found, object)
		}
	}
	return found, err
}

// Noting is a Reader that calls Note before it gets an object of a resource.
type Noting struct {
	podwright.Reader
	Resource podwright.Resource
	Note     func()
}

// Get returns an object.
func (n Noting) Get(resource podwright.Resource, namespace, name string) (any, error) {
	if resource == n.Resource {
		n.Note()
	}
	return n.Reader.Get(resource, namespace, name)
}

// Changing is a Reader of objects as Change returns them, which changes copies.
type Changing struct {
	podwright.Reader
	Change func(object any) any
}

// Get returns an object.
func (c Changing) Get(resource podwright.Resource, namespace, name string) (any, error) {
	object, err := c.Reader.Get(resource, namespace, name)
	if err != nil {
		return nil, err
	}
	return c.Change(object), nil
}

// List returns the objects of a namespace, empty for all.
func (c Changing) List(resource podwright.Resource, namespace string) ([]any, error) {
	objects, err := c.Reader.List(resource, namespace)
	return c.all(objects), err
}

// ByIndex returns the objects for which an index has a key.
func (c Changing) ByIndex(resource podwright.Resource, namespace string, index podwright.Index, key string) ([]any, error) {
	objects, err := c.Reader.ByIndex(resource, namespace, index, key)
	return c.all(objects), err
}

func (c Changing) all(objects []any) []any {
	changed := make([]any, len(objects))
	for i := range objects {
		changed[i] = c.Change(objects[i])
	}
	return changed
}

// ChangingPods is a Reader of pods of which a function changes copies; nil changes none.
func ChangingPods(reader podwright.Reader, change func(*corev1.Pod)) podwright.Reader {
	if change == nil {
		return reader
	}
	return Changing{reader, func(object any) any {
		if pod, ok := object.(*corev1.Pod); ok {
			pod = pod.DeepCopy()
			change(pod)
			return pod
		}
		return object
	}}
}

// Blind is a Reader of caches that cannot tell how far they are.
type Blind struct{ podwright.Reader }

// SyncedResourceVersion returns nothing.
func (Blind) SyncedResourceVersion(podwright.Resource) string { return "" }
