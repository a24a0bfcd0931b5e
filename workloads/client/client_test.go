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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// request is what the test server saw of a request.
type request struct {
	Method, Path, Query, ContentType, Body string
}

// serve starts an API server that answers every request with the same object
// and remembers the last request.
func serve(t *testing.T, status int, answer any) (*rest.Config, *request, http.Header) {
	t.Helper()
	last, header := &request{}, http.Header{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type"), string(body)}
		for key := range r.Header {
			header.Set(key, r.Header.Get(key))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}, last, header
}

func newClient(t *testing.T, config *rest.Config) *client.Client {
	t.Helper()
	c, err := client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func cloneSet(name string) *v1alpha1.CloneSet {
	return &v1alpha1.CloneSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"},
	}
}

func TestRequests(t *testing.T) {
	const base = "/apis/apps.kruise.io/v1alpha1/namespaces/shop/clonesets"
	const jsonType = "application/json"
	ctx := context.Background()
	encoded := `{"kind":"CloneSet","apiVersion":"apps.kruise.io/v1alpha1","metadata":{"name":"web","namespace":"shop"},` +
		`"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"scaleStrategy":{},"updateStrategy":{}},` +
		`"status":{"replicas":0,"readyReplicas":0,"availableReplicas":0,"updatedReplicas":0,"updatedReadyReplicas":0}}` + "\n"
	type api = client.CloneSetInterface
	for _, test := range []struct {
		name string
		call func(api) error
		want request
	}{
		{"create", func(c api) error { _, err := c.Create(ctx, cloneSet("web"), metav1.CreateOptions{}); return err }, request{"POST", base, "", jsonType, encoded}},
		{"create as a dry run", func(c api) error {
			_, err := c.Create(ctx, cloneSet("web"), metav1.CreateOptions{DryRun: []string{"All"}})
			return err
		}, request{"POST", base, "dryRun=All", jsonType, encoded}},
		{"update", func(c api) error { _, err := c.Update(ctx, cloneSet("web"), metav1.UpdateOptions{}); return err }, request{"PUT", base + "/web", "", jsonType, encoded}},
		{"update the status", func(c api) error {
			_, err := c.UpdateStatus(ctx, cloneSet("web"), metav1.UpdateOptions{})
			return err
		}, request{"PUT", base + "/web/status", "", jsonType, encoded}},
		{"delete", func(c api) error { return c.Delete(ctx, "web", metav1.DeleteOptions{}) }, request{"DELETE", base + "/web", "", jsonType, `{"kind":"DeleteOptions","apiVersion":"apps.kruise.io/v1alpha1"}` + "\n"}},
		{"delete many", func(c api) error {
			return c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=web"})
		}, request{"DELETE", base, "labelSelector=app%3Dweb", jsonType, `{"kind":"DeleteOptions","apiVersion":"apps.kruise.io/v1alpha1"}` + "\n"}},
		{"get", func(c api) error { _, err := c.Get(ctx, "web", metav1.GetOptions{}); return err }, request{"GET", base + "/web", "", "", ""}},
		{"merge patch", func(c api) error {
			_, err := c.Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{FieldManager: "shop"})
			return err
		}, request{"PATCH", base + "/web", "fieldManager=shop", "application/merge-patch+json", `{"spec":{"replicas":3}}`}},
		{"patch of a subresource", func(c api) error {
			_, err := c.Patch(ctx, "web", types.JSONPatchType, []byte(`[]`), metav1.PatchOptions{}, "status")
			return err
		}, request{"PATCH", base + "/web/status", "", "application/json-patch+json", `[]`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, got, _ := serve(t, http.StatusOK, cloneSet("web"))
			if err := test.call(newClient(t, config).CloneSets("shop")); err != nil {
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
		want := cloneSet("web")
		want.Spec.MinReadySeconds = 5
		config, _, _ := serve(t, http.StatusOK, want)
		got, err := newClient(t, config).CloneSets("shop").Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want.TypeMeta = metav1.TypeMeta{} // typed clients leave it empty
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("object (-want +got):\n%s", diff)
		}
	})
	t.Run("a list over all namespaces", func(t *testing.T) {
		answer := &v1alpha1.CloneSetList{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSetList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "7"},
			Items:    []v1alpha1.CloneSet{*cloneSet("a"), *cloneSet("b")},
		}
		config, request, _ := serve(t, http.StatusOK, answer)
		got, err := newClient(t, config).CloneSets("").List(ctx, metav1.ListOptions{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Items) != 2 || got.ResourceVersion != "7" {
			t.Errorf("got %d items at version %q, want 2 at version 7", len(got.Items), got.ResourceVersion)
		}
		if request.Path != "/apis/apps.kruise.io/v1alpha1/clonesets" || request.Query != "limit=2" {
			t.Errorf("listed %s?%s", request.Path, request.Query)
		}
	})
	t.Run("a watch", func(t *testing.T) {
		event := map[string]any{"type": "ADDED", "object": cloneSet("web")}
		config, request, _ := serve(t, http.StatusOK, event)
		w, err := newClient(t, config).CloneSets("shop").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		got, ok := (<-w.ResultChan()).Object.(*v1alpha1.CloneSet)
		if !ok || got.Name != "web" {
			t.Errorf("watched %#v, want the CloneSet web", got)
		}
		if request.Query != "watch=true" {
			t.Errorf("query %q, want watch=true", request.Query)
		}
	})
	t.Run("an error of the API server", func(t *testing.T) {
		refusal := apierrors.NewConflict(v1alpha1.Resource("clonesets"), "web", nil).Status()
		refusal.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		config, _, _ := serve(t, http.StatusConflict, refusal)
		_, err := newClient(t, config).CloneSets("shop").Update(ctx, cloneSet("web"), metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			t.Errorf("error %v, want a conflict", err)
		}
	})
}

func TestConfig(t *testing.T) {
	get := func(c *client.Client) error {
		_, err := c.CloneSets("shop").Get(context.Background(), "web", metav1.GetOptions{})
		return err
	}

	t.Run("user agent and credentials are the caller's, the content type is JSON", func(t *testing.T) {
		config, _, header := serve(t, http.StatusOK, cloneSet("web"))
		config.UserAgent, config.BearerToken = "shop-operator/1", "secret"
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
		before := rest.CopyConfig(config)
		if err := get(newClient(t, config)); err != nil {
			t.Fatal(err)
		}
		got := [3]string{header.Get("User-Agent"), header.Get("Authorization"), header.Get("Accept")}
		if diff := cmp.Diff([3]string{"shop-operator/1", "Bearer secret", "application/json"}, got); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		if config.String() != before.String() {
			t.Errorf("the caller's configuration changed from %v to %v", before, config)
		}
	})
	t.Run("an empty user agent becomes client-go's default", func(t *testing.T) {
		config, _, header := serve(t, http.StatusOK, cloneSet("web"))
		if err := get(newClient(t, config)); err != nil {
			t.Fatal(err)
		}
		if got := header.Get("User-Agent"); got != rest.DefaultKubernetesUserAgent() {
			t.Errorf("user agent %q, want %q", got, rest.DefaultKubernetesUserAgent())
		}
	})
	t.Run("a shared HTTP client is used", func(t *testing.T) {
		config, _, _ := serve(t, http.StatusOK, cloneSet("web"))
		used := false
		shared := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			used = true
			return http.DefaultTransport.RoundTrip(r)
		})}
		c, err := client.NewForConfigAndClient(config, shared)
		if err != nil {
			t.Fatal(err)
		}
		if err := get(c); err != nil || !used {
			t.Errorf("error %v, shared client used: %t", err, used)
		}
	})
	t.Run("a bad configuration is an error", func(t *testing.T) {
		if _, err := client.NewForConfig(&rest.Config{Host: "http://bad host"}); err == nil {
			t.Error("no error for a host that is no URL")
		}
		if _, err := client.NewForConfig(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}); err == nil {
			t.Error("no error for a CA that is no certificate")
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
