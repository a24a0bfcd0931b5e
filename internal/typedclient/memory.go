// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"
)

// Memory makes clients of kinds that ask a fake, by resource. The packages fake have one.
type Memory map[schema.GroupVersionResource]func(fake *testing.Fake, resource schema.GroupVersionResource, namespace string) any

// InMemory is a backend whose requests a fake answers, see Serve.
func InMemory(fake *testing.Fake, kinds Memory) *Backend {
	return &Backend{memory: func(resource schema.GroupVersionResource, namespace string) any {
		return kinds[resource](fake, resource, namespace)
	}}
}

// Serve lets a fake answer from copies of the given objects, and returns the
// memory that holds them. It panics if an object is of no kind that
// addToScheme registers, or is given twice.
func Serve(fake *testing.Fake, objects []runtime.Object, addToScheme ...func(*runtime.Scheme) error) testing.ObjectTracker {
	scheme := runtime.NewScheme()
	for _, add := range addToScheme {
		if err := add(scheme); err != nil {
			panic(fmt.Sprintf("fake client: %v", err))
		}
	}
	tracker := testing.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
	for i, object := range objects {
		if err := tracker.Add(object); err != nil {
			panic(fmt.Sprintf("fake client: object %d (%T): %v", i, object, err))
		}
	}
	fake.AddReactor("update", "*", serveScale(tracker))
	fake.AddReactor("*", "*", testing.ObjectReaction(tracker))
	fake.AddWatchReactor("*", func(action testing.Action) (bool, watch.Interface, error) {
		var opts metav1.ListOptions
		if a, ok := action.(testing.WatchActionImpl); ok {
			opts = a.ListOptions
		}
		w, err := tracker.Watch(action.GetResource(), action.GetNamespace(), opts)
		return true, w, err
	})
	return tracker
}
