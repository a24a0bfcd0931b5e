// SPDX-License-Identifier: Apache-2.0

// Package clienttest tests what the typed clients of all kinds do the same way: requests, answers, informers, listers and
// clients in memory.
package clienttest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
)

// object is what objects of all kinds are.
type object interface {
	runtime.Object
	metav1.Object
}

// Subject describes a kind. P is the pointer to its Go type, L that to the type of its lists, and C the clients of its area.
type Subject[P object, L runtime.Object, C any] struct {
	schema.GroupVersionResource
	Name string // such as CloneSet
	// InCluster says that objects have no namespace.
	InCluster bool
	// Object makes an object with something in its spec, List an empty list.
	Object func() P
	List   func() L

	Connect  func(*rest.Config) (C, error)
	Fake     func(...runtime.Object) (C, clienttesting.FakeClient)
	Client   func(c C, namespace string) typedclient.Interface[P, L]
	Informer func(c C, namespace string, indexers cache.Indexers) cache.SharedIndexInformer
	Lister   func(cache.Indexer) typedclient.Lister[P]
}

// Of returns the method of an area's clients that gives the client of a kind, as a Subject has it.
func Of[P, L, C any, I typedclient.Interface[P, L]](method func(C, string) I) func(C, string) typedclient.Interface[P, L] {
	return func(c C, namespace string) typedclient.Interface[P, L] { return method(c, namespace) }
}

// Test tests a kind.
func Test[P object, L runtime.Object, C any](t *testing.T, k Subject[P, L, C]) {
	t.Run("requests", k.requests)
	t.Run("answers", k.answers)
	t.Run("bad configuration", func(t *testing.T) {
		if _, err := k.Connect(&rest.Config{Host: "http://bad host"}); err == nil {
			t.Error("no error for a host that is no URL")
		}
	})
	t.Run("informer and lister", k.lists)
	t.Run("informer of a namespace", k.informerOfNamespace)
	t.Run("in memory", k.inMemory)
	t.Run("calls are recorded and can be answered", k.calls)
	t.Run("watch in memory", k.watch)
	t.Run("an object of another kind panics", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("no panic for a Pod, which is of no kind of this client")
			}
		}()
		k.Fake(&corev1.Pod{})
	})
}

// OfCluster is a lister of a kind whose objects have no namespace.
func OfCluster[P any](all typedclient.NamespaceLister[P]) typedclient.Lister[P] {
	return ofCluster[P]{all}
}

type ofCluster[P any] struct{ typedclient.NamespaceLister[P] }

func (l ofCluster[P]) Namespace(string) typedclient.NamespaceLister[P] { return l.NamespaceLister }

// object makes an object whose label app is its name.
func (k *Subject[P, L, C]) object(namespace, name string) P {
	object := k.Object()
	object.SetNamespace(k.namespace(namespace))
	object.SetName(name)
	object.SetLabels(map[string]string{"app": name})
	return object
}

// namespace is a namespace if the kind has them.
func (k *Subject[P, L, C]) namespace(name string) string {
	if k.InCluster {
		return metav1.NamespaceNone
	}
	return name
}

// sent is an object as it travels, with its kind.
func (k *Subject[P, L, C]) sent(name string) P {
	object := k.object("shop", name)
	object.GetObjectKind().SetGroupVersionKind(k.GroupVersion().WithKind(k.Name))
	return object
}
