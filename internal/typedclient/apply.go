// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/gentype"
)

// ApplyInterface is an Interface of a kind with configurations that can be applied; C is the pointer to their Go type.
type ApplyInterface[T, L, C any] interface {
	Interface[T, L]
	// Apply makes the object what the configuration says, and creates it if it does not exist (server-side apply).
	Apply(ctx context.Context, configuration C, opts metav1.ApplyOptions) (T, error)
	// ApplyStatus applies nothing but the status.
	ApplyStatus(ctx context.Context, configuration C, opts metav1.ApplyOptions) (T, error)
}

// configuration is what client-go asks of a configuration.
type configuration interface {
	comparable
	GetName() *string
}

// NewWithApply is New of a kind with configurations.
func NewWithApply[T, L any, C configuration, P object[T], Q list[L]](b *Backend, resource schema.GroupVersionResource, namespace string) ApplyInterface[P, Q, C] {
	if b.memory != nil {
		return b.memory(resource, namespace).(ApplyInterface[P, Q, C])
	}
	newObject, newList := func() P { return new(T) }, func() Q { return new(L) }
	c := b.connected(resource)
	return gentype.NewClientWithListAndApply[P, Q, C](resource.Resource, c, c.codec, namespace, newObject, newList)
}
