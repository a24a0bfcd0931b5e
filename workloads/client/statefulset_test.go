// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func statefulSet(namespace, name string) *v1beta1.StatefulSet {
	return &v1beta1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
	}
}

func TestStatefulSetRequests(t *testing.T) {
	const base, jsonType = "/apis/apps.kruise.io/v1beta1/namespaces/shop/statefulsets", "application/json"
	const encoded = `{"kind":"StatefulSet","apiVersion":"apps.kruise.io/v1beta1","metadata":{"name":"web","namespace":"shop"},` +
		`"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},` +
		`"status":{"replicas":0,"readyReplicas":0,"availableReplicas":0,"currentReplicas":0,"updatedReplicas":0}}` + "\n"
	ctx := context.Background()
	for _, test := range []struct {
		name string
		call func(client.StatefulSetInterface) error
		want request
	}{
		{"create", func(c client.StatefulSetInterface) error {
			_, err := c.Create(ctx, statefulSet("shop", "web"), metav1.CreateOptions{})
			return err
		}, request{"POST", base, "", jsonType, encoded}},
		{"update the status", func(c client.StatefulSetInterface) error {
			_, err := c.UpdateStatus(ctx, statefulSet("shop", "web"), metav1.UpdateOptions{})
			return err
		}, request{"PUT", base + "/web/status", "", jsonType, encoded}},
		{"delete", func(c client.StatefulSetInterface) error { return c.Delete(ctx, "web", metav1.DeleteOptions{}) },
			request{"DELETE", base + "/web", "", jsonType, `{"kind":"DeleteOptions","apiVersion":"apps.kruise.io/v1beta1"}` + "\n"}},
		{"patch of a subresource", func(c client.StatefulSetInterface) error {
			_, err := c.Patch(ctx, "web", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}, "scale")
			return err
		}, request{"PATCH", base + "/web/scale", "", "application/merge-patch+json", `{}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, got, _ := serve(t, http.StatusOK, statefulSet("shop", "web"))
			if err := test.call(newClient(t, config).StatefulSets("shop")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatefulSetList(t *testing.T) {
	config, request, _ := serve(t, http.StatusOK, &v1beta1.StatefulSetList{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSetList"},
		Items:    []v1beta1.StatefulSet{*statefulSet("shop", "a"), *statefulSet("bank", "b")},
	})
	got, err := newClient(t, config).StatefulSets("").List(context.Background(), metav1.ListOptions{})
	if err != nil || len(got.Items) != 2 || request.Path != "/apis/apps.kruise.io/v1beta1/statefulsets" {
		t.Errorf("listed %v, %v at %s, want 2 objects of all namespaces", got, err, request.Path)
	}
}

func TestStatefulSetInformerAndLister(t *testing.T) {
	c := fake.NewClient(statefulSet("shop", "web"), statefulSet("bank", "db"), cloneSet("web"))
	informer := client.NewStatefulSetInformer(c, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); informer.RunWithContext(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the cache was never filled")
	}
	lister := client.NewStatefulSetLister(informer.GetIndexer())
	if all, err := lister.List(labels.Everything()); err != nil || len(all) != 2 {
		t.Errorf("listed %v, %v, want 2 objects", all, err)
	}
	if shop, err := lister.Namespace("shop").List(labels.Everything()); err != nil || len(shop) != 1 || shop[0].Name != "web" {
		t.Errorf("listed %v, %v in shop, want web", shop, err)
	}
	if got, err := lister.Namespace("bank").Get("db"); err != nil || got.Name != "db" {
		t.Errorf("got %v, %v, want bank/db", got, err)
	}
}

// The clients of all versions share one limit.
func TestRateLimit(t *testing.T) {
	for _, test := range []struct {
		name   string
		config rest.Config
		want   int // requests that are let through at once
	}{
		{"of the configuration", rest.Config{QPS: 0.001, Burst: 3}, 3},
		{"with client-go's burst", rest.Config{QPS: 0.001}, rest.DefaultBurst},
		{"the caller's own", rest.Config{RateLimiter: flowcontrol.NewTokenBucketRateLimiter(0.001, 2), QPS: 100}, 2},
		{"none", rest.Config{QPS: -1}, 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			sent := 0
			counting := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
				sent++
				return nil, errors.New("counted")
			})}
			c, err := client.NewForConfigAndClient(&test.config, counting)
			if err != nil {
				t.Fatal(err)
			}
			// What the limiter cannot let through before the deadline it refuses at once.
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			for range 20 {
				_ = c.CloneSets("shop").Delete(ctx, "web", metav1.DeleteOptions{})
				_ = c.StatefulSets("shop").Delete(ctx, "web", metav1.DeleteOptions{})
			}
			if sent != test.want {
				t.Errorf("%d requests came through, want %d", sent, test.want)
			}
		})
	}
}
