// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// indexing is held while the indexes of an informer are looked up or added: controllers
// that start at the same time may share one, which itself refuses a second index of the
// same name, and returns its map of them without a lock.
var indexing sync.Mutex

// EnsureIndex returns the index of an informer that has the name, which is the given one
// if it had none.
func EnsureIndex(informer cache.SharedIndexInformer, name string, keys cache.IndexFunc) (cache.IndexFunc, error) {
	indexing.Lock()
	defer indexing.Unlock()
	if index, found := informer.GetIndexer().GetIndexers()[name]; found {
		return index, nil
	}
	if err := informer.AddIndexers(cache.Indexers{name: keys}); err != nil {
		return nil, fmt.Errorf("add the index %s: %w", name, err)
	}
	return keys, nil
}

// AddNamespaceIndex adds an index by namespace, without which List goes through all objects. It does nothing if the
// informer has that index already.
func AddNamespaceIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, cache.NamespaceIndex, cache.MetaNamespaceIndexFunc)
}

// addIndex adds an index to an informer that does not have it yet.
func addIndex(informer cache.SharedIndexInformer, name string, keys cache.IndexFunc) error {
	_, err := EnsureIndex(informer, name, keys)
	return err
}

func byIndex[T any](indexer cache.Indexer, index, key string) ([]T, error) {
	objects, err := indexer.ByIndex(index, key)
	if err != nil {
		return nil, err
	}
	found := make([]T, 0, len(objects))
	for _, object := range objects {
		t, ok := object.(T)
		if !ok {
			return nil, fmt.Errorf("the cache holds a %T where %T is wanted", object, *new(T))
		}
		found = append(found, t)
	}
	return found, nil
}
