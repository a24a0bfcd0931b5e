// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"
)

// Lister lists objects of kinds of podwright, in the version that the API server prefers. (KC-1)
type Lister struct {
	Dynamic dynamic.Interface
	Mapper  meta.RESTMapper
}

// Serves tells whether the API server has a kind.
func (l Lister) Serves(kind schema.GroupKind) (bool, error) {
	_, err := l.Mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// Objects returns the objects of a kind in a namespace, or in all of them if it is empty. There are none if the API
// server does not have the kind.
func (l Lister) Objects(ctx context.Context, kind schema.GroupKind, namespace string) ([]*Object, error) {
	mapping, err := l.Mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the %ss: %w", kind.Kind, err)
	}
	page := func(options metav1.ListOptions) (runtime.Object, error) {
		return l.Dynamic.Resource(mapping.Resource).Namespace(namespace).List(ctx, options)
	}
	var objects []*Object
	err = pager.New(pager.SimplePageFunc(page)).EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		objects = append(objects, &Object{Unstructured: *object.(*unstructured.Unstructured)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the %ss: %w", kind.Kind, err)
	}
	return objects, nil
}

// ListAs returns what Objects does, decoded. Fields that the type does not have are dropped.
func ListAs[T any](ctx context.Context, l Lister, kind schema.GroupKind, namespace string) ([]*T, error) {
	objects, err := l.Objects(ctx, kind, namespace)
	if err != nil {
		return nil, err
	}
	decoded := make([]*T, len(objects))
	for i, o := range objects {
		decoded[i] = new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, decoded[i]); err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind.Kind, o.GetName(), err)
		}
	}
	return decoded, nil
}

// Title is how an object is called if it stands for itself: "cloneset.apps.kruise.io/web".
func (o *Object) Title() string {
	return schema.GroupKind{Group: o.GroupVersionKind().Group, Kind: strings.ToLower(o.GetKind())}.String() + "/" + o.GetName()
}
