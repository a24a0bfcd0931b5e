// SPDX-License-Identifier: Apache-2.0

package clienttest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/typedclient"
)

// Request is what a server saw of a request.
type Request struct {
	method, path, query, contentType, body string
}

// Serve starts an API server that answers every request with the same object, and remembers the last request and its header.
func Serve(t *testing.T, status int, answer any) (*rest.Config, *Request, http.Header) {
	t.Helper()
	last, header := &Request{}, http.Header{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = Request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type"), string(body)}
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

// connect is Serve, and a client of the namespace.
func (k *subject[P, L, C]) connect(t *testing.T, namespace string, status int, answer any) (typedclient.Interface[P, L], *Request) {
	t.Helper()
	config, last, _ := Serve(t, status, answer)
	c, err := k.Area.connect(config)
	if err != nil {
		t.Fatal(err)
	}
	return k.client(c, k.namespace(namespace)), last
}

// path is that of all objects of a namespace, or of the cluster.
func (k *subject[P, L, C]) path(namespace string) string {
	path := "/apis/" + k.GroupVersion().String()
	if namespace = k.namespace(namespace); namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + k.Resource
}

func (k *subject[P, L, C]) requests(t *testing.T) {
	ctx, base, web := t.Context(), k.path("shop"), k.object("shop", "web")
	data, err := json.Marshal(k.sent("web"))
	if err != nil {
		t.Fatal(err)
	}
	const jsonType, labelled = "application/json", `{"metadata":{"labels":{"a":"b"}}}`
	encoded, deletion := string(data)+"\n", `{"kind":"DeleteOptions","apiVersion":"`+k.GroupVersion().String()+`"}`+"\n"
	type api = typedclient.Interface[P, L]
	for _, test := range []struct {
		name string
		call func(api) error
		want Request
	}{
		{"create", func(c api) error { _, err := c.Create(ctx, web, metav1.CreateOptions{}); return err }, Request{"POST", base, "", jsonType, encoded}},
		{"create as a dry run", func(c api) error {
			_, err := c.Create(ctx, web, metav1.CreateOptions{DryRun: []string{"All"}})
			return err
		}, Request{"POST", base, "dryRun=All", jsonType, encoded}},
		{"update", func(c api) error { _, err := c.Update(ctx, web, metav1.UpdateOptions{}); return err }, Request{"PUT", base + "/web", "", jsonType, encoded}},
		{"update the status", func(c api) error { _, err := c.UpdateStatus(ctx, web, metav1.UpdateOptions{}); return err }, Request{"PUT", base + "/web/status", "", jsonType, encoded}},
		{"delete", func(c api) error { return c.Delete(ctx, "web", metav1.DeleteOptions{}) }, Request{"DELETE", base + "/web", "", jsonType, deletion}},
		{"delete many", func(c api) error {
			return c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=web"})
		}, Request{"DELETE", base, "labelSelector=app%3Dweb", jsonType, deletion}},
		{"get", func(c api) error { _, err := c.Get(ctx, "web", metav1.GetOptions{}); return err }, Request{"GET", base + "/web", "", "", ""}},
		{"merge patch", func(c api) error {
			_, err := c.Patch(ctx, "web", types.MergePatchType, []byte(labelled), metav1.PatchOptions{FieldManager: "shop"})
			return err
		}, Request{"PATCH", base + "/web", "fieldManager=shop", "application/merge-patch+json", labelled}},
		{"patch of a subresource", func(c api) error {
			_, err := c.Patch(ctx, "web", types.JSONPatchType, []byte(`[]`), metav1.PatchOptions{}, "scale")
			return err
		}, Request{"PATCH", base + "/web/scale", "", "application/json-patch+json", `[]`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, got := k.connect(t, "shop", http.StatusOK, k.sent("web"))
			if err := test.call(c); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, *got, cmp.AllowUnexported(Request{})); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func (k *subject[P, L, C]) answers(t *testing.T) {
	ctx := t.Context()
	t.Run("an object", func(t *testing.T) {
		c, _ := k.connect(t, "shop", http.StatusOK, k.sent("web"))
		got, err := c.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(k.object("shop", "web"), got); diff != "" { // without the kind, as typed clients leave it
			t.Errorf("object (-want +got):\n%s", diff)
		}
	})
	t.Run("a list over all namespaces", func(t *testing.T) {
		list := reflect.New(reflect.TypeFor[L]().Elem()).Interface().(L)
		if err := meta.SetList(list, []runtime.Object{k.sent("a"), k.sent("b")}); err != nil {
			t.Fatal(err)
		}
		list.GetObjectKind().SetGroupVersionKind(k.GroupVersion().WithKind(k.name + "List"))
		any(list).(metav1.ListMetaAccessor).GetListMeta().SetResourceVersion("7")
		c, request := k.connect(t, "", http.StatusOK, list)
		got, err := c.List(ctx, metav1.ListOptions{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		if version := any(got).(metav1.ListMetaAccessor).GetListMeta().GetResourceVersion(); meta.LenList(got) != 2 || version != "7" {
			t.Errorf("got %d items at version %q, want 2 at version 7", meta.LenList(got), version)
		}
		if request.path != k.path("") || request.query != "limit=2" {
			t.Errorf("listed %s?%s", request.path, request.query)
		}
	})
	t.Run("a watch", func(t *testing.T) {
		c, request := k.connect(t, "shop", http.StatusOK, map[string]any{"type": "ADDED", "object": k.sent("web")})
		w, err := c.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if got, ok := (<-w.ResultChan()).Object.(P); !ok || got.GetName() != "web" {
			t.Errorf("watched %#v, want the object web", got)
		}
		if request.query != "watch=true" || !strings.HasPrefix(request.path, k.path("shop")) {
			t.Errorf("watched %s?%s", request.path, request.query)
		}
	})
	t.Run("an error of the API server", func(t *testing.T) {
		refusal := apierrors.NewConflict(k.GroupResource(), "web", nil).Status()
		refusal.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		c, _ := k.connect(t, "shop", http.StatusConflict, refusal)
		if _, err := c.Update(ctx, k.object("shop", "web"), metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("error %v, want a conflict", err)
		}
	})
}
