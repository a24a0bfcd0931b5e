// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
)

// Interface reads and writes objects of a kind: T is the pointer to its Go type,
// and L to that of its lists. The methods do what those of client-go's clients do,
// and return the API server's errors (see k8s.io/apimachinery/pkg/api/errors).
type Interface[T, L any] interface {
	Create(ctx context.Context, object T, opts metav1.CreateOptions) (T, error)
	// Update writes everything but the status.
	Update(ctx context.Context, object T, opts metav1.UpdateOptions) (T, error)
	// UpdateStatus writes nothing but the status.
	UpdateStatus(ctx context.Context, object T, opts metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	// Patch changes an object or one of its subresources ("status", for some kinds
	// "scale"). Custom resources take JSON patches, merge patches and server-side
	// apply, but no strategic-merge patches.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

type object[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

type list[L any] interface {
	*L
	runtime.Object
}

// New makes the client of a kind in a namespace; the empty one means all, or that
// the kind has none. L has the fields ListMeta and Items. It panics for a version
// that the backend is not connected to.
func New[T, L any, P object[T], Q list[L]](b *Backend, resource schema.GroupVersionResource, namespace string) Interface[P, Q] {
	if b.memory != nil {
		return b.memory(resource, namespace).(Interface[P, Q])
	}
	newObject, newList := func() P { return new(T) }, func() Q { return new(L) }
	c := b.connected(resource)
	return gentype.NewClientWithList[P, Q](resource.Resource, c, c.codec, namespace, newObject, newList)
}
