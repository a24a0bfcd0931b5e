// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/podwright/podwright"
)

// ByLabel returns an index by the value of a label. Objects without it are left out.
func ByLabel(label string) podwright.Index {
	return podwright.Index{Name: "podwright.label:" + label, Keys: func(obj any) ([]string, error) {
		object, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		value, found := object.GetLabels()[label]
		if !found {
			return nil, nil
		}
		return []string{labelled(object.GetNamespace(), value)}, nil
	}}
}

// Labelled returns the objects of a namespace whose label has the value, by an index that ByLabel has made. They are
// shared with the cache and must not be changed.
func Labelled[T any](r podwright.Reader, resource podwright.Resource, namespace string, byLabel podwright.Index, value string) ([]T, error) {
	return byIndex[T](r, resource, namespace, byLabel, labelled(namespace, value))
}

func labelled(namespace, value string) string { return namespace + "/" + value }
