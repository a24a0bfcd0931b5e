// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Typed reads the objects of a typed client, which is called with a namespace.
func Typed[C reader[T, L], T metav1.Object, L metav1.ListInterface](client func(namespace string) C) Live {
	return typed[C, T, L]{client}
}

// reader is the part of a typed client that reads.
type reader[T metav1.Object, L metav1.ListInterface] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
}

type typed[C reader[T, L], T metav1.Object, L metav1.ListInterface] struct{ client func(string) C }

func (t typed[C, T, L]) Read(ctx context.Context, namespace, name string) (metav1.Object, error) {
	object, err := t.client(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return object, nil
}

func (t typed[C, T, L]) Newest(ctx context.Context, namespace string) (string, error) {
	list, err := t.client(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.GetResourceVersion(), nil
}

// TypedCluster is Typed for a resource without namespaces.
func TypedCluster[C reader[T, L], T metav1.Object, L metav1.ListInterface](client func() C) Live {
	return typed[C, T, L]{func(string) C { return client() }}
}

// Merge sends a merge patch of an object, or of the subresource that follows, and
// returns the resourceVersion of the write.
type Merge func(ctx context.Context, key types.NamespacedName, data []byte, subresources ...string) (resourceVersion string, err error)

// patcher is the part of a typed client that patches.
type patcher[T metav1.Object] interface {
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// TypedMerge patches the objects of a typed client, which is called with a namespace.
func TypedMerge[C patcher[T], T metav1.Object](client func(namespace string) C) Merge {
	return func(ctx context.Context, key types.NamespacedName, data []byte, subresources ...string) (string, error) {
		object, err := client(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
		if err != nil {
			return "", err
		}
		return object.GetResourceVersion(), nil
	}
}
