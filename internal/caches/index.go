// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
)

// ByNamespace is the index by namespace, without which a List of one goes through all objects.
var ByNamespace = podwright.Index{Name: cache.NamespaceIndex, Keys: cache.MetaNamespaceIndexFunc}

// indexing is held while the indexes of an informer are looked up or added. Controllers
// that start at the same time may share an informer. It refuses a second index of the
// same name, and returns its map of them without a lock.
var indexing sync.Mutex

// EnsureIndex returns the index of an informer that has the name, which is the given one
// if it had none.
func EnsureIndex(informer cache.SharedIndexInformer, index podwright.Index) (cache.IndexFunc, error) {
	return ensureIndex(informer.GetIndexer(), informer, index)
}

// AddIndexes adds the indexes that an informer lacks.
func AddIndexes(informer cache.SharedIndexInformer, indexes ...podwright.Index) error {
	return addIndexes(informer.GetIndexer(), informer, indexes)
}

// adder is an informer, or its store.
type adder interface {
	AddIndexers(cache.Indexers) error
}

func addIndexes(indexer cache.Indexer, to adder, indexes []podwright.Index) error {
	for _, index := range indexes {
		if _, err := ensureIndex(indexer, to, index); err != nil {
			return err
		}
	}
	return nil
}

func ensureIndex(indexer cache.Indexer, to adder, index podwright.Index) (cache.IndexFunc, error) {
	indexing.Lock()
	defer indexing.Unlock()
	if keys, found := indexer.GetIndexers()[index.Name]; found {
		return keys, nil
	}
	if err := to.AddIndexers(cache.Indexers{index.Name: index.Keys}); err != nil {
		return nil, fmt.Errorf("add the index %s: %w", index.Name, err)
	}
	return index.Keys, nil
}
