// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/podwright/podwright"
)

// cacheReader reads the caches of a manager.
type cacheReader struct {
	manager ctrl.Manager
	lock    sync.RWMutex
	caches  map[podwright.Resource]toolscache.Indexer
}

// NewReader returns a podwright.Reader on the caches of a manager, for the Reconcilers of all kinds. If the manager's cache is
// restricted to namespaces, NewReconciler fails: such caches do not tell how far they are.
func NewReader(m ctrl.Manager) podwright.Reader {
	return &cacheReader{manager: m, caches: map[podwright.Resource]toolscache.Indexer{}}
}

// Open has the manager cache a resource, with indexes.
func (r *cacheReader) Open(resource podwright.Resource, object runtime.Object, indexes ...podwright.Index) error {
	shared, err := informer(r.manager, object)
	if err != nil {
		return err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, index := range indexes {
		if _, found := shared.GetIndexer().GetIndexers()[index.Name]; found {
			continue
		}
		if err := shared.AddIndexers(toolscache.Indexers{index.Name: index.Keys}); err != nil {
			return err
		}
	}
	r.caches[resource] = shared.GetIndexer()
	return nil
}

// of returns the cache of a resource.
func (r *cacheReader) of(resource podwright.Resource) (toolscache.Indexer, error) {
	r.lock.RLock()
	defer r.lock.RUnlock()
	if cache, found := r.caches[resource]; found {
		return cache, nil
	}
	return nil, &meta.NoResourceMatchError{PartialResource: schema.GroupVersionResource{Resource: string(resource)}}
}

// SyncedResourceVersion tells how far a cache is.
func (r *cacheReader) SyncedResourceVersion(resource podwright.Resource) string {
	cache, err := r.of(resource)
	if err != nil {
		return ""
	}
	return cache.LastStoreSyncResourceVersion()
}

// Get returns an object, without copying it.
func (r *cacheReader) Get(resource podwright.Resource, namespace, name string) (any, error) {
	cache, err := r.of(resource)
	if err != nil {
		return nil, err
	}
	object, found, err := cache.GetByKey(toolscache.NewObjectName(namespace, name).String())
	if err == nil && !found {
		err = apierrors.NewNotFound(schema.GroupResource{Resource: string(resource)}, name)
	}
	return object, err
}

// List returns the objects of a namespace, or of all if it is empty. The manager indexes them by namespace.
func (r *cacheReader) List(resource podwright.Resource, namespace string) ([]any, error) {
	cache, err := r.of(resource)
	switch {
	case err != nil:
		return nil, err
	case namespace == "":
		return cache.List(), nil
	}
	return cache.ByIndex(toolscache.NamespaceIndex, namespace)
}

// ByIndex returns the objects for which an index has a key.
func (r *cacheReader) ByIndex(resource podwright.Resource, _ string, index podwright.Index, key string) ([]any, error) {
	cache, err := r.of(resource)
	if err != nil {
		return nil, err
	}
	return cache.ByIndex(index.Name, key)
}
