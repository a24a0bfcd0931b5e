// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// adding is held while an index is added: controllers that start at the same time may
// share an informer, which itself refuses a second index of the same name.
var adding sync.Mutex

// addIndex adds an index to an informer that does not have it yet.
func addIndex(informer cache.SharedIndexInformer, name string, keys cache.IndexFunc) error {
	adding.Lock()
	defer adding.Unlock()
	if _, found := informer.GetIndexer().GetIndexers()[name]; found {
		return nil
	}
	if err := informer.AddIndexers(cache.Indexers{name: keys}); err != nil {
		return fmt.Errorf("add the index %s: %w", name, err)
	}
	return nil
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
