// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
)

// The caches that several controllers read.
const (
	Pods      podwright.Resource = "pods"
	Claims    podwright.Resource = "persistentvolumeclaims"
	Revisions podwright.Resource = "controllerrevisions"
	Nodes     podwright.Resource = "nodes"
)

// Reader is a podwright.Reader over the informers of a controller.
type Reader map[podwright.Resource]cache.Indexer

// Open adds the indexes that a cache lacks.
func (r Reader) Open(resource podwright.Resource, _ runtime.Object, indexes ...podwright.Index) error {
	if indexer, found := r[resource]; found {
		return addIndexes(indexer, indexer, indexes)
	}
	return nil
}

// SyncedResourceVersion returns the resourceVersion up to which a cache is
// complete, empty when it cannot tell or is not known.
func (r Reader) SyncedResourceVersion(resource podwright.Resource) string {
	indexer, found := r[resource]
	if !found {
		return ""
	}
	return indexer.LastStoreSyncResourceVersion()
}

// Get returns an object.
func (r Reader) Get(resource podwright.Resource, namespace, name string) (any, error) {
	indexer, found := r[resource]
	if !found {
		return nil, noCache(resource)
	}
	object, exists, err := indexer.GetByKey(cache.NewObjectName(namespace, name).String())
	if err == nil && !exists {
		err = notFound(resource, name)
	}
	return object, err
}

// List returns the objects of a namespace, empty for all. It goes through all objects if there is no index by namespace.
func (r Reader) List(resource podwright.Resource, namespace string) ([]any, error) {
	indexer, found := r[resource]
	if !found {
		return nil, noCache(resource)
	}
	if namespace == metav1.NamespaceAll {
		return indexer.List(), nil
	}
	if objects, err := indexer.ByIndex(cache.NamespaceIndex, namespace); err == nil {
		return objects, nil
	}
	var objects []any
	for _, object := range indexer.List() {
		if o, ok := object.(metav1.Object); ok && o.GetNamespace() == namespace {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// ByIndex returns the objects for which an index has a key.
func (r Reader) ByIndex(resource podwright.Resource, _ string, index podwright.Index, key string) ([]any, error) {
	indexer, found := r[resource]
	if !found {
		return nil, noCache(resource)
	}
	return indexer.ByIndex(index.Name, key)
}

func noCache(resource podwright.Resource) error {
	return &meta.NoResourceMatchError{PartialResource: schema.GroupVersionResource{Resource: string(resource)}}
}

func notFound(resource podwright.Resource, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: string(resource)}, name)
}

// Get returns an object, or an error for which apierrors.IsNotFound holds, which it also is if there is no cache of
// the resource. The namespace of objects without one is empty.
func Get[T any](r podwright.Reader, resource podwright.Resource, namespace, name string) (object T, err error) {
	found, err := r.Get(resource, namespace, name)
	if meta.IsNoMatchError(err) {
		err = notFound(resource, name)
	}
	if err != nil {
		return object, err
	}
	object, ok := found.(T)
	if !ok {
		return object, fmt.Errorf("the cache of %s holds a %T, and %T is wanted", resource, found, object)
	}
	return object, nil
}

// Object returns an object, nil if there is none of that name. Its kind is a word for errors. (The namespace of objects without
// one is empty.)
func Object[T any](r podwright.Reader, resource podwright.Resource, kind string, key types.NamespacedName) (*T, error) {
	object, err := Get[*T](r, resource, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, cache.NamespacedNameAsObjectName(key), err)
	}
	return object, nil
}

// Find returns an object, nil if there is none of that name. If known is false, there is no cache of the resource.
func Find(r podwright.Reader, resource podwright.Resource, namespace, name string) (object any, known bool, err error) {
	switch object, err = r.Get(resource, namespace, name); {
	case meta.IsNoMatchError(err):
		return nil, false, nil
	case apierrors.IsNotFound(err):
		return nil, true, nil
	}
	return object, true, err
}

// Node returns a node; nil if it is not known.
func Node(r podwright.Reader, name string) *corev1.Node {
	node, err := Get[*corev1.Node](r, Nodes, metav1.NamespaceNone, name)
	if err != nil {
		return nil
	}
	return node
}

// AllNodes returns all nodes.
func AllNodes(r podwright.Reader) ([]*corev1.Node, error) {
	return All[*corev1.Node](r, Nodes, metav1.NamespaceNone)
}

// RevisionsOf returns the revisions that the UID controls, and those of the
// namespace that match the selector and have no controller.
func RevisionsOf(r podwright.Reader, namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error) {
	return ControlledOrOrphaned[*appsv1.ControllerRevision](r, Revisions, namespace, owner, selector)
}

// List returns the objects of a namespace (empty: of all) that match, in any order.
func List[T metav1.Object](r podwright.Reader, resource podwright.Resource, namespace string, selector labels.Selector) ([]T, error) {
	all, err := All[T](r, resource, namespace)
	if err != nil || selector.Empty() {
		return all, err
	}
	return slices.DeleteFunc(all, func(object T) bool { return !selector.Matches(labels.Set(object.GetLabels())) }), nil
}

// All returns all objects of a namespace (empty: of all), in any order.
func All[T any](r podwright.Reader, resource podwright.Resource, namespace string) ([]T, error) {
	objects, err := r.List(resource, namespace)
	return typed[T](resource, objects, err)
}

// byIndex returns the objects for which an index has a key.
func byIndex[T any](r podwright.Reader, resource podwright.Resource, namespace string, index podwright.Index, key string) ([]T, error) {
	objects, err := r.ByIndex(resource, namespace, index, key)
	return typed[T](resource, objects, err)
}

// typed returns objects as what they are; none if there is no cache of the resource.
func typed[T any](resource podwright.Resource, objects []any, err error) ([]T, error) {
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := make([]T, 0, len(objects))
	for _, object := range objects {
		t, ok := object.(T)
		if !ok {
			return nil, fmt.Errorf("the cache of %s holds a %T, and %T is wanted", resource, object, *new(T))
		}
		found = append(found, t)
	}
	return found, nil
}
