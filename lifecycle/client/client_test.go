// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// request is what the test server saw of a request.
type request struct {
	Method, Path, Query, ContentType, Body string
}

// serve starts an API server that answers every request with the same object
// and remembers the last request.
func serve(t *testing.T, answer any) (client.Interface, *request) {
	t.Helper()
	last := &request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type"), string(body)}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	c, err := client.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c, last
}

func restart(name string) *v1alpha1.ContainerRecreateRequest {
	return &v1alpha1.ContainerRecreateRequest{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ContainerRecreateRequest"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"},
		Spec: v1alpha1.ContainerRecreateRequestSpec{
			PodName:    "web-0",
			Containers: []v1alpha1.ContainerRecreateRequestContainer{{Name: "main"}},
		},
	}
}

func TestRequests(t *testing.T) {
	const base = "/apis/apps.kruise.io/v1alpha1/namespaces/shop/containerrecreaterequests"
	const jsonType = "application/json"
	ctx := context.Background()
	encoded := `{"kind":"ContainerRecreateRequest","apiVersion":"apps.kruise.io/v1alpha1","metadata":{"name":"web","namespace":"shop"},` +
		`"spec":{"podName":"web-0","containers":[{"name":"main"}]},"status":{"phase":""}}` + "\n"
	type api = client.ContainerRecreateRequestInterface
	for _, test := range []struct {
		name string
		call func(api) error
		want request
	}{
		{"create", func(c api) error { _, err := c.Create(ctx, restart("web"), metav1.CreateOptions{}); return err }, request{"POST", base, "", jsonType, encoded}},
		{"update", func(c api) error { _, err := c.Update(ctx, restart("web"), metav1.UpdateOptions{}); return err }, request{"PUT", base + "/web", "", jsonType, encoded}},
		{"update the status", func(c api) error {
			_, err := c.UpdateStatus(ctx, restart("web"), metav1.UpdateOptions{})
			return err
		}, request{"PUT", base + "/web/status", "", jsonType, encoded}},
		{"delete", func(c api) error { return c.Delete(ctx, "web", metav1.DeleteOptions{}) }, request{"DELETE", base + "/web", "", jsonType, `{"kind":"DeleteOptions","apiVersion":"apps.kruise.io/v1alpha1"}` + "\n"}},
		{"get", func(c api) error { _, err := c.Get(ctx, "web", metav1.GetOptions{}); return err }, request{"GET", base + "/web", "", "", ""}},
		{"merge patch", func(c api) error {
			_, err := c.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{FieldManager: "shop"})
			return err
		}, request{"PATCH", base + "/web", "fieldManager=shop", "application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, got := serve(t, restart("web"))
			if err := test.call(c.ContainerRecreateRequests("shop")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	ctx := context.Background()

	t.Run("an object", func(t *testing.T) {
		want := restart("web")
		c, _ := serve(t, want)
		got, err := c.ContainerRecreateRequests("shop").Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want.TypeMeta = metav1.TypeMeta{} // typed clients leave it empty
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("object (-want +got):\n%s", diff)
		}
	})
	t.Run("a list over all namespaces", func(t *testing.T) {
		c, request := serve(t, &v1alpha1.ContainerRecreateRequestList{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ContainerRecreateRequestList"},
			Items:    []v1alpha1.ContainerRecreateRequest{*restart("a"), *restart("b")},
		})
		got, err := c.ContainerRecreateRequests("").List(ctx, metav1.ListOptions{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Items) != 2 {
			t.Errorf("got %d items, want 2", len(got.Items))
		}
		if request.Path != "/apis/apps.kruise.io/v1alpha1/containerrecreaterequests" || request.Query != "limit=2" {
			t.Errorf("listed %s?%s", request.Path, request.Query)
		}
	})
	t.Run("a watch", func(t *testing.T) {
		c, _ := serve(t, map[string]any{"type": "ADDED", "object": restart("web")})
		w, err := c.ContainerRecreateRequests("shop").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		got, ok := (<-w.ResultChan()).Object.(*v1alpha1.ContainerRecreateRequest)
		if !ok || got.Name != "web" {
			t.Errorf("watched %#v, want the ContainerRecreateRequest web", got)
		}
	})
}

func TestBadConfiguration(t *testing.T) {
	if _, err := client.NewForConfig(&rest.Config{Host: "http://bad host"}); err == nil {
		t.Error("no error for a host that is no URL")
	}
}
