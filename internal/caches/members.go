// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/podplan"
)

// byParent is the name of the index from what stands before the ordinal to the
// objects of such names.
const byParent = "podwright.ordinalParent"

// AddMemberIndex indexes an informer by what stands before the ordinal in the
// names of its objects. For a pod, that is the StatefulSet whose name it
// carries. It does nothing if the informer has that index already.
func AddMemberIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, byParent, parents)
}

func parents(obj any) ([]string, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	parent, _, ok := podplan.SplitOrdinal(object.GetName())
	if !ok {
		return nil, nil
	}
	return []string{cache.NewObjectName(object.GetNamespace(), parent).String()}, nil
}

// Members returns the objects of a namespace whose names are the parent's, a
// dash and an ordinal, of an informer indexed by AddMemberIndex. These are the pods of a
// StatefulSet by its name, and with "data-web" the claims of the set web that
// are made of its template data. Whose they are is not looked at. They are
// shared with the cache and must not be changed.
func Members[T any](indexer cache.Indexer, namespace, parent string) ([]T, error) {
	return byIndex[T](indexer, byParent, cache.NewObjectName(namespace, parent).String())
}
