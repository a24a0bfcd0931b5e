// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"
)

// Lister reads objects of a kind from a cache; T is the pointer to its Go type. What
// it returns belongs to the cache and must not be changed.
type Lister[T any] interface {
	// List lists the objects of all namespaces whose labels match.
	List(selector labels.Selector) ([]T, error)
	// Namespace gives the lister of one namespace.
	Namespace(namespace string) NamespaceLister[T]
}

// NamespaceLister reads the objects of a kind in one namespace, or those of a kind
// that has none, from a cache.
type NamespaceLister[T any] interface {
	// List lists the objects whose labels match.
	List(selector labels.Selector) ([]T, error)
	// Get finds an object by name. A missing one is a NotFound error.
	Get(name string) (T, error)
}

// NewLister makes a lister of an informer's cache.
func NewLister[T runtime.Object](indexer cache.Indexer, resource schema.GroupResource) Lister[T] {
	return lister[T]{listers.New[T](indexer, resource)}
}

type lister[T runtime.Object] struct{ listers.ResourceIndexer[T] }

func (l lister[T]) Namespace(namespace string) NamespaceLister[T] {
	return listers.NewNamespaced(l.ResourceIndexer, namespace)
}
