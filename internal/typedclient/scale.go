// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/testing"
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
	objects := NewWithApply[T, L, C, P, Q](b, resource, namespace)
	if b.memory != nil {
		return memoryScaled[P, Q, C]{objects, b.memory, resource, namespace}
	}
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

// memoryScaled asks a fake.
type memoryScaled[T, L, C any] struct {
	ApplyInterface[T, L, C]
	memory    *testing.Fake
	resource  schema.GroupVersionResource
	namespace string
}

func (s memoryScaled[T, L, C]) GetScale(_ context.Context, name string, opts metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return asScale(s.memory.Invokes(testing.NewGetSubresourceActionWithOptions(s.resource, s.namespace, scale, name, opts), &autoscalingv1.Scale{}))
}

func (s memoryScaled[T, L, C]) UpdateScale(_ context.Context, name string, wanted *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	wanted = wanted.DeepCopy()
	wanted.Name = name
	return asScale(s.memory.Invokes(testing.NewUpdateSubresourceActionWithOptions(s.resource, scale, s.namespace, wanted, opts), &autoscalingv1.Scale{}))
}

// serveScale writes the replicas of an object in memory, which another reaction would replace by its scale.
func serveScale(tracker testing.ObjectTracker) testing.ReactionFunc {
	return func(action testing.Action) (bool, runtime.Object, error) {
		update, ok := action.(testing.UpdateAction)
		if !ok || action.GetSubresource() != scale {
			return false, nil, nil
		}
		wanted, ok := update.GetObject().(*autoscalingv1.Scale)
		if !ok {
			return true, nil, fmt.Errorf("a scale is updated by a %T", update.GetObject())
		}
		object, err := tracker.Get(action.GetResource(), action.GetNamespace(), wanted.Name)
		if err != nil {
			return true, nil, err
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return true, nil, err
		}
		if err := unstructured.SetNestedField(fields, int64(wanted.Spec.Replicas), "spec", "replicas"); err != nil {
			return true, nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, object); err != nil {
			return true, nil, err
		}
		return true, object, tracker.Update(action.GetResource(), object, action.GetNamespace())
	}
}

// asScale returns the scale of what a fake answers: the object, or a scale that a test answers with. The kinds of this library have
// their replicas and the selector of their pods in the same fields.
func asScale(answer runtime.Object, err error) (*autoscalingv1.Scale, error) {
	if answer == nil || err != nil {
		return nil, err
	}
	if found, ok := answer.(*autoscalingv1.Scale); ok {
		return found, nil
	}
	var object struct {
		metav1.ObjectMeta `json:"metadata"`

		Spec struct {
			Replicas *int32 `json:"replicas"`
		} `json:"spec"`
		Status struct {
			Replicas      int32  `json:"replicas"`
			LabelSelector string `json:"labelSelector"`
			Selector      string `json:"selector"`
		} `json:"status"`
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(answer)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &object); err != nil {
		return nil, err
	}
	out := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: object.Name, Namespace: object.Namespace, UID: object.UID,
		ResourceVersion: object.ResourceVersion, CreationTimestamp: object.CreationTimestamp,
	}}
	if object.Spec.Replicas != nil {
		out.Spec.Replicas = *object.Spec.Replicas
	}
	out.Status = autoscalingv1.ScaleStatus{Replicas: object.Status.Replicas, Selector: object.Status.LabelSelector + object.Status.Selector}
	return out, nil
}
