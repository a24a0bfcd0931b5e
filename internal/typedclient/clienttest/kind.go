// SPDX-License-Identifier: Apache-2.0

// Package clienttest tests what the typed clients of all kinds do the same way: requests, answers, informers, listers and
// clients in memory.
package clienttest

import (
	"reflect"
	"strings"
	"testing"
	"time"

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

// Area makes clients of an area, which C is an interface of: over HTTP, and in memory.
type Area[C any] struct {
	connect func(*rest.Config) (C, error)
	fake    func(...runtime.Object) (C, clienttesting.FakeClient)
}

// In describes an area.
func In[C any, H any, M clienttesting.FakeClient](connect func(*rest.Config) (H, error), fake func(...runtime.Object) M) Area[C] {
	return Area[C]{
		connect: func(config *rest.Config) (c C, err error) {
			made, err := connect(config)
			if err != nil {
				return c, err
			}
			return any(made).(C), nil
		},
		fake: func(objects ...runtime.Object) (C, clienttesting.FakeClient) {
			made := fake(objects...)
			return any(made).(C), made
		},
	}
}

// subject is a kind. P is the pointer to its Go type, L that to the type of its lists, and C the clients of its area.
type subject[P object, L runtime.Object, C any] struct {
	schema.GroupVersionResource
	Area[C]
	name      string // such as CloneSet
	inCluster bool   // objects have no namespace
	example   P

	client   func(c C, namespace string) typedclient.Interface[P, L]
	informer func(c C, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer
	lister   func(cache.Indexer) typedclient.Lister[P]
}

// Namespaced tests the clients of a kind whose objects have a namespace. client is the method of the area's clients that gives the client
// of the kind; informer and lister are those of the kind. The example has something in its spec.
func Namespaced[C any, P object, L runtime.Object, I typedclient.Interface[P, L]](t *testing.T, of Area[C], version schema.GroupVersion, example P, client func(C, string) I,
	informer func(C, string, time.Duration, cache.Indexers) cache.SharedIndexInformer, lister func(cache.Indexer) typedclient.Lister[P]) {
	name := reflect.TypeOf(example).Elem().Name()
	k := subject[P, L, C]{
		GroupVersionResource: version.WithResource(strings.ToLower(name) + "s"), Area: of, name: name, example: example,
		client:   func(c C, namespace string) typedclient.Interface[P, L] { return client(c, namespace) },
		informer: informer, lister: lister,
	}
	k.test(t)
}

// InCluster tests the clients of a kind whose objects have none.
func InCluster[C any, P object, L runtime.Object, I typedclient.Interface[P, L]](t *testing.T, of Area[C], version schema.GroupVersion, example P, client func(C) I,
	informer func(C, time.Duration, cache.Indexers) cache.SharedIndexInformer, lister func(cache.Indexer) typedclient.NamespaceLister[P]) {
	name := reflect.TypeOf(example).Elem().Name()
	k := subject[P, L, C]{
		GroupVersionResource: version.WithResource(strings.ToLower(name) + "s"), Area: of, name: name, example: example, inCluster: true,
		client: func(c C, _ string) typedclient.Interface[P, L] { return client(c) },
		informer: func(c C, _ string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
			return informer(c, resync, indexers)
		},
		lister: func(indexer cache.Indexer) typedclient.Lister[P] { return ofCluster[P]{lister(indexer)} },
	}
	k.test(t)
}

func (k *subject[P, L, C]) test(t *testing.T) {
	t.Run("requests", k.requests)
	t.Run("answers", k.answers)
	t.Run("bad configuration", func(t *testing.T) {
		if _, err := k.Area.connect(&rest.Config{Host: "http://bad host"}); err == nil {
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
		k.fake(&corev1.Pod{})
	})
}

// ofCluster is a lister of a kind whose objects have no namespace.
type ofCluster[P any] struct{ typedclient.NamespaceLister[P] }

func (l ofCluster[P]) Namespace(string) typedclient.NamespaceLister[P] { return l.NamespaceLister }

// object makes an object whose label app is its name.
func (k *subject[P, L, C]) object(namespace, name string) P {
	object := k.example.DeepCopyObject().(P)
	object.SetNamespace(k.namespace(namespace))
	object.SetName(name)
	object.SetLabels(map[string]string{"app": name})
	return object
}

// namespace is a namespace if the kind has them.
func (k *subject[P, L, C]) namespace(name string) string {
	if k.inCluster {
		return metav1.NamespaceNone
	}
	return name
}

// sent is an object as it travels, with its kind.
func (k *subject[P, L, C]) sent(name string) P {
	object := k.object("shop", name)
	object.GetObjectKind().SetGroupVersionKind(k.GroupVersion().WithKind(k.name))
	return object
}
