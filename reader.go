// SPDX-License-Identifier: Apache-2.0

package podwright

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Resource names a cache that a controller reads, by the plural of the resource: pods, clonesets. A UnitedDeployment, which reads two
// kinds of StatefulSets, calls those of podwright advancedstatefulsets.
type Resource string

// Reader reads caches: those of another framework, for a Reconciler of any kind. New makes one over
// informers. What it returns is shared with the caches: a Reconciler never changes it. Its
// methods are called by several goroutines.
//
// If there is no cache of a resource, they return an error for which meta.IsNoMatchError holds. A
// Reconciler goes on as if no object of the resource existed.
type Reader interface {
	// Open is called by NewReconciler, once for each resource that is read. Its objects are pointers of the
	// type that object has. The indexes are those by which ByIndex is asked later. An error is that
	// of NewReconciler.
	Open(resource Resource, object runtime.Object, indexes ...Index) error
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// ControllerOptions.AllowStaleReads is set. (The controllers of a node do not wait for
	// such a cache.) The caches must hold all objects of their
	// namespaces: one that was created and does not appear is an error.
	SyncedResourceVersion(Resource) string
	// Get returns an object, or an error for which apierrors.IsNotFound holds. The namespace
	// of objects without one is empty.
	Get(resource Resource, namespace, name string) (any, error)
	// List returns the objects of a namespace, or of all if it is empty, in any order.
	List(resource Resource, namespace string) ([]any, error)
	// ByIndex returns the objects for which an index has a key, in any order. They are all in the namespace, if it is
	// not empty: a Reader without indexes may go through what List returns.
	ByIndex(resource Resource, namespace string, index Index, key string) ([]any, error)
}

// Index finds objects by keys. It is what cache.Indexers holds of client-go.
type Index struct {
	// Name is that of the index. Two indexes of a resource differ in it.
	Name string
	// Keys returns the keys of an object.
	Keys cache.IndexFunc
}
