// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"
)

// InMemoryWithApply is NewWithApply of objects in memory. It is an entry of Memory.
func InMemoryWithApply[T, L any, C configuration, P object[T], Q list[L]](fake *testing.Fake, resource schema.GroupVersionResource, namespace string) any {
	return applied[T, L, C, P, Q](fake, resource, namespace)
}

// InMemoryScaled is NewScaled of objects in memory. It is an entry of Memory.
func InMemoryScaled[T, L any, C configuration, P object[T], Q list[L]](fake *testing.Fake, resource schema.GroupVersionResource, namespace string) any {
	return memoryScaled[P, Q, C]{applied[T, L, C, P, Q](fake, resource, namespace), fake, resource, namespace}
}

func applied[T, L any, C configuration, P object[T], Q list[L]](fake *testing.Fake, resource schema.GroupVersionResource, namespace string) ApplyInterface[P, Q, C] {
	newObject, newList := func() P { return new(T) }, func() Q { return new(L) }
	return gentype.NewFakeClientWithListAndApply[P, Q, C](fake, namespace, resource, kindOf[T](resource), newObject, newList,
		copyMeta[Q], items[T, L, P, Q], setItems[T, L, P, Q])
}

// kindOf is the kind of a Go type.
func kindOf[T any](resource schema.GroupVersionResource) schema.GroupVersionKind {
	return resource.GroupVersion().WithKind(reflect.TypeFor[T]().Name())
}

func copyMeta[Q any](to, from Q) {
	*part[metav1.ListMeta](to, "ListMeta") = *part[metav1.ListMeta](from, "ListMeta")
}

func items[T, L any, P object[T], Q list[L]](l Q) []P { return pointers[T, P](*part[[]T](l, "Items")) }

func setItems[T, L any, P object[T], Q list[L]](l Q, objects []P) {
	*part[[]T](l, "Items") = values[T, P](objects)
}

// part is a field of a list.
func part[F any](list any, name string) *F {
	return reflect.ValueOf(list).Elem().FieldByName(name).Addr().Interface().(*F)
}

func pointers[T any, P object[T]](all []T) []P {
	out := make([]P, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

func values[T any, P object[T]](all []P) []T {
	out := make([]T, len(all))
	for i := range all {
		out[i] = *all[i]
	}
	return out
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
