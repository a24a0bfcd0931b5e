// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/podplan"
)

// ByMember is the index from what stands before the ordinal to the objects of such
// names. For a pod, that is the StatefulSet whose name it carries.
var ByMember = podwright.Index{Name: "podwright.ordinalParent", Keys: parents}

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

// Members returns the objects of a namespace whose names are the parent's, a dash and an
// ordinal, indexed ByMember. These are the pods of a StatefulSet by its name. With
// "data-web" they are the claims of the set web that are made of its template data. Whose
// they are is not looked at. They are shared with the cache and must not be changed.
func Members[T any](r podwright.Reader, resource podwright.Resource, namespace, parent string) ([]T, error) {
	return byIndex[T](r, resource, namespace, ByMember, cache.NewObjectName(namespace, parent).String())
}
