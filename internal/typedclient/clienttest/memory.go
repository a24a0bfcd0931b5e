// SPDX-License-Identifier: Apache-2.0

package clienttest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// Run runs an informer until the test ends, and returns when its cache is filled. Every object added goes to the channel.
func Run(t *testing.T, informer cache.SharedIndexInformer) (added <-chan string) {
	t.Helper()
	names := make(chan string, 10)
	handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { names <- obj.(metav1.Object).GetName() }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); informer.RunWithContext(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	if !cache.WaitForCacheSync(ctx.Done(), handle.HasSynced) {
		t.Fatal("the cache was never filled")
	}
	return names
}

func (k *subject[P, L, C]) lists(t *testing.T) {
	c, _ := k.fake(k.object("shop", "web"), k.object("shop", "db"), k.object("bank", "bill"))
	informer := k.informer(c, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	Run(t, informer)
	lister := k.lister(informer.GetIndexer())
	web, everywhere := labels.SelectorFromSet(labels.Set{"app": "web"}), []string{"bill", "db", "web"}
	inShop, nowhere := []string{"db", "web"}, []string(nil)
	if k.inCluster {
		inShop, nowhere = everywhere, everywhere
	}
	for _, test := range []struct {
		name string
		list func(labels.Selector) ([]P, error)
		by   labels.Selector
		want []string
	}{
		{"everything", lister.List, labels.Everything(), everywhere},
		{"by label", lister.List, web, []string{"web"}},
		{"by namespace", lister.Namespace("shop").List, labels.Everything(), inShop},
		{"by namespace and label", lister.Namespace("shop").List, web, []string{"web"}},
		{"of an empty namespace", lister.Namespace("none").List, labels.Everything(), nowhere},
	} {
		found, err := test.list(test.by)
		var names []string
		for _, object := range found {
			names = append(names, object.GetName())
		}
		slices.Sort(names)
		if diff := cmp.Diff(test.want, names); diff != "" || err != nil {
			t.Errorf("%s: error %v, names (-want +got):\n%s", test.name, err, diff)
		}
	}
	if got, err := lister.Namespace("shop").Get("db"); err != nil || got.GetLabels()["app"] != "db" {
		t.Errorf("got %v, %v, want the object db", got, err)
	}
	if _, err := lister.Namespace("bank").Get("none"); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want not found", err)
	}
	if _, err := lister.Namespace("bank").Get("db"); !k.inCluster && !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want not found in another namespace", err)
	}
}

// informerOfNamespace: it sees what is added in its namespace, and nothing else.
func (k *subject[P, L, C]) informerOfNamespace(t *testing.T) {
	c, _ := k.fake()
	added := Run(t, k.informer(c, "shop", 0, nil))
	for _, object := range []P{k.object("bank", "other"), k.object("shop", "web")} {
		if k.inCluster && object.GetName() == "other" {
			continue
		}
		if _, err := k.client(c, object.GetNamespace()).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case name := <-added:
		if name != "web" {
			t.Errorf("the informer of the namespace shop announced %q, want web", name)
		}
	case <-time.After(time.Minute):
		t.Error("the informer never announced the new object")
	}
}

// inMemory: objects are kept as an API server keeps them.
func (k *subject[P, L, C]) inMemory(t *testing.T) {
	ctx := t.Context()
	c, _ := k.fake(k.object("shop", "web"))
	shop := k.client(c, k.namespace("shop"))
	if _, err := shop.Create(ctx, k.object("shop", "db"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Create(ctx, k.object("shop", "db"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("second creation: error %v, want already exists", err)
	}
	patched, err := shop.Patch(ctx, "db", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	if err != nil || patched.GetLabels()["a"] != "b" {
		t.Errorf("patched to %v, %v, want the label a", patched, err)
	}
	web, err := shop.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	web.SetLabels(map[string]string{"c": "d"})
	if _, err := shop.UpdateStatus(ctx, web, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := k.client(c, "").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := meta.ExtractList(list)
	if err != nil || len(all) != 2 || all[1].(P).GetLabels()["c"] != "d" {
		t.Errorf("listed %v, %v, want db and then web with the label c", all, err)
	}
	if err := shop.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after deletion: error %v, want not found", err)
	}
}

func (k *subject[P, L, C]) calls(t *testing.T) {
	c, fake := k.fake()
	refusal := errors.New("no")
	fake.PrependReactor("delete", k.Resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
	if err := k.client(c, k.namespace("shop")).Delete(t.Context(), "web", metav1.DeleteOptions{}); !errors.Is(err, refusal) {
		t.Errorf("error %v, want the reactor's", err)
	}
	if actions := fake.Actions(); len(actions) != 1 || !actions[0].Matches("delete", k.Resource) {
		t.Errorf("recorded %v, want one deletion in %s", actions, k.Resource)
	}
}

func (k *subject[P, L, C]) watch(t *testing.T) {
	c, fake := k.fake()
	w, err := k.client(c, k.namespace("shop")).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := fake.Tracker().Add(k.object("shop", "web")); err != nil {
		t.Fatal(err)
	}
	select {
	case event := <-w.ResultChan():
		if got, ok := event.Object.(P); !ok || got.GetName() != "web" {
			t.Errorf("watched %#v, want the object web", event.Object)
		}
	case <-time.After(time.Minute):
		t.Error("nothing was watched")
	}
}
