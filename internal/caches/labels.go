// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// AddLabelIndex indexes an informer by the value of a label. Objects without it
// are left out. It does nothing if the informer has that index already.
func AddLabelIndex(informer cache.SharedIndexInformer, label string) error {
	return addIndex(informer, byLabel(label), func(obj any) ([]string, error) {
		object, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		value, found := object.GetLabels()[label]
		if !found {
			return nil, nil
		}
		return []string{labelled(object.GetNamespace(), value)}, nil
	})
}

// Labelled returns the objects of a namespace whose label has the value, of an
// informer indexed by AddLabelIndex. They are shared with the cache and must not
// be changed.
func Labelled[T any](indexer cache.Indexer, namespace, label, value string) ([]T, error) {
	return byIndex[T](indexer, byLabel(label), labelled(namespace, value))
}

func byLabel(label string) string { return "podwright.label:" + label }

func labelled(namespace, value string) string { return namespace + "/" + value }
