// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"sort"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func labelled(namespace, name, app string) *v1alpha1.ContainerRecreateRequest {
	return &v1alpha1.ContainerRecreateRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}}}
}

func names(t *testing.T, list func(labels.Selector) ([]*v1alpha1.ContainerRecreateRequest, error), selector labels.Selector) []string {
	t.Helper()
	found, err := list(selector)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, request := range found {
		out = append(out, request.Namespace+"/"+request.Name)
	}
	sort.Strings(out)
	return out
}

// startInformer runs an informer until the test ends, and waits until its
// cache is filled. Every object added is announced on the channel.
func startInformer(t *testing.T, c client.Interface, namespace string) (cache.SharedIndexInformer, <-chan string) {
	t.Helper()
	added := make(chan string, 10)
	informer := client.NewContainerRecreateRequestInformer(c, namespace, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { added <- obj.(*v1alpha1.ContainerRecreateRequest).Name },
	})
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
	return informer, added
}

func TestInformerAndLister(t *testing.T) {
	c := fake.NewClient(labelled("shop", "web", "web"), labelled("shop", "db", "db"), labelled("bank", "web", "web"))
	informer, _ := startInformer(t, c, "")
	lister := client.NewContainerRecreateRequestLister(informer.GetIndexer())
	web := labels.SelectorFromSet(labels.Set{"app": "web"})

	for _, test := range []struct {
		name string
		list func(labels.Selector) ([]*v1alpha1.ContainerRecreateRequest, error)
		by   labels.Selector
		want []string
	}{
		{"everything", lister.List, labels.Everything(), []string{"bank/web", "shop/db", "shop/web"}},
		{"by label", lister.List, web, []string{"bank/web", "shop/web"}},
		{"by namespace", lister.Namespace("shop").List, labels.Everything(), []string{"shop/db", "shop/web"}},
		{"by namespace and label", lister.Namespace("shop").List, web, []string{"shop/web"}},
		{"of an empty namespace", lister.Namespace("none").List, labels.Everything(), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, names(t, test.list, test.by)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}

	if got, err := lister.Namespace("shop").Get("db"); err != nil || got.Labels["app"] != "db" {
		t.Errorf("got %v, %v, want the ContainerRecreateRequest shop/db", got, err)
	}
	if _, err := lister.Namespace("bank").Get("db"); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want not found", err)
	}
}

func TestInformerSeesChangesOfItsNamespace(t *testing.T) {
	c := fake.NewClient()
	_, added := startInformer(t, c, "shop")
	for _, request := range []*v1alpha1.ContainerRecreateRequest{labelled("bank", "other", ""), labelled("shop", "web", "")} {
		if _, err := c.ContainerRecreateRequests(request.Namespace).Create(context.Background(), request, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case name := <-added:
		if name != "web" {
			t.Errorf("the informer of the namespace shop announced %q, want web", name)
		}
	case <-time.After(10 * time.Second):
		t.Error("the informer never announced the new ContainerRecreateRequest")
	}
}
