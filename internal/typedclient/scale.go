// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const scale = "scale"

// ScaledInterface is an ApplyInterface of a kind whose objects have the subresource scale.
type ScaledInterface[T, L, C any] interface {
	ApplyInterface[T, L, C]
	// GetScale returns the replicas of an object, and the selector of its pods.
	GetScale(ctx context.Context, name string, opts metav1.GetOptions) (*autoscalingv1.Scale, error)
	// UpdateScale writes the replicas of an object and nothing else.
	UpdateScale(ctx context.Context, name string, scale *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error)
}

// NewScaled is NewWithApply of a kind whose objects have the subresource scale.
func NewScaled[T, L any, C configuration, P object[T], Q list[L]](b *Backend, resource schema.GroupVersionResource, namespace string) ScaledInterface[P, Q, C] {
	if b.memory != nil {
		return b.memory(resource, namespace).(ScaledInterface[P, Q, C])
	}
	objects := NewWithApply[T, L, C, P, Q](b, resource, namespace)
	return scaled[P, Q, C]{objects, b.connected(resource), resource.Resource, namespace}
}

// scaled asks an API server.
type scaled[T, L, C any] struct {
	ApplyInterface[T, L, C]
	connection
	resource, namespace string
}

func (s scaled[T, L, C]) GetScale(ctx context.Context, name string, opts metav1.GetOptions) (*autoscalingv1.Scale, error) {
	out := &autoscalingv1.Scale{}
	return out, s.connection.Get().Namespace(s.namespace).Resource(s.resource).Name(name).SubResource(scale).
		VersionedParams(&opts, s.codec).Do(ctx).Into(out)
}

func (s scaled[T, L, C]) UpdateScale(ctx context.Context, name string, wanted *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	out := &autoscalingv1.Scale{}
	return out, s.connection.Put().Namespace(s.namespace).Resource(s.resource).Name(name).SubResource(scale).
		VersionedParams(&opts, s.codec).Body(wanted).Do(ctx).Into(out)
}
