// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/podwright/podwright/examples/kit/webhooks/certificates"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/workloads/conversion"
)

var byURL = manager.Target{URL: "https://10.0.0.1:9876", CABundle: []byte("ca")}

// fixture is an API server with the definition of StatefulSet, and a Server whose cache is never behind.
type fixture struct {
	*testing.T
	api  client.WithWatch
	s    *Server
	used certificates.Bundle
	// done lists what the server did, in its order: writes, and "use" and "succeeded".
	done []string
	// refused are the writes and reads of definitions that are forbidden.
	refused string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t}
	crd := definitionOf(ConvertedName, dict{"strategy": "None"})
	crd.SetResourceVersion("")
	f.api = fake.NewClientBuilder().WithObjects(crd).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if f.refused == "get" && object.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition" {
				<-ctx.Done() // as a cache does that never syncs
				return apierrors.NewTimeoutError("failed waiting for the informer to sync", 0)
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			f.note("create", object)
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			f.note("update", object)
			return c.Update(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if kind := f.note("patch", object); f.refused == "patch" && kind == "CustomResourceDefinition" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "customresourcedefinitions"}, ConvertedName, errors.New("no such role"))
			}
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
	f.s = &Server{
		Options:   Options{Register: true, Host: "10.0.0.1", Secret: "certs", CertWriter: "secret"},
		Namespace: "kruise-system", converted: map[string]*unstructured.Unstructured{}, client: f.api, live: live{f}, url: byURL.URL, Handlers: map[string]http.Handler{},
		present: func(_ context.Context, bundle certificates.Bundle) error {
			f.used = bundle
			f.done = append(f.done, "use")
			return nil
		},
		succeeded: func() { f.done = append(f.done, "succeeded") },
	}
	f.s.Handlers[conversion.Path], f.s.Webhooks = http.NotFoundHandler(), &configurations{f: f}
	return f
}

// live asks the API server, which answers at once.
type live struct{ f *fixture }

func (l live) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if l.f.refused == "get" && object.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition" {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "customresourcedefinitions"}, key.Name, errors.New("no such role"))
	}
	return l.f.api.Get(ctx, key, object, options...)
}

func (l live) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return l.f.api.List(ctx, list, options...)
}

// configurations note when they are registered with another authority than before.
type configurations struct {
	f           *fixture
	registered  []byte
	keeps       bool
	annotations map[string]string
}

func (c *configurations) Register(_ context.Context, target manager.Target) (bool, error) {
	if target.URL != byURL.URL {
		c.f.Errorf("URL %q", target.URL)
	}
	c.keeps, c.annotations = target.KeepCABundles, target.Annotations
	if c.registered != nil && bytes.Equal(c.registered, target.CABundle) {
		return false, nil
	}
	c.f.done, c.registered = append(c.f.done, "register"), append([]byte{}, target.CABundle...)
	return true, nil
}

func (*configurations) Watch(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return nil
}

func (f *fixture) note(verb string, object client.Object) string {
	gvk, err := f.api.GroupVersionKindFor(object)
	if err != nil {
		f.Fatal(err)
	}
	kind := gvk.Kind
	f.done = append(f.done, verb+" "+kind)
	return kind
}

// reconcile looks once, and compares what was done.
func (f *fixture) reconcile(step string, want ...string) {
	f.Helper()
	f.done = nil
	if _, err := f.s.Reconcile(f.Context(), reconcile.Request{}); err != nil {
		f.Fatalf("%s: %v", step, err)
	}
	if diff := cmp.Diff(append(want, "succeeded"), f.done); diff != "" {
		f.Errorf("%s: what was done (-want +got):\n%s", step, diff)
	}
}

// change patches an object by hand.
func (f *fixture) change(object client.Object, name, patch string) {
	f.Helper()
	object.SetName(name)
	if err := f.api.Patch(f.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		f.Fatal(err)
	}
}

// keepOnly removes the other entries of the Secret.
func (f *fixture) keepOnly(entries ...string) {
	f.Helper()
	secret := &corev1.Secret{}
	if err := f.api.Get(f.Context(), client.ObjectKey{Namespace: "kruise-system", Name: "certs"}, secret); err != nil {
		f.Fatal(err)
	}
	maps.DeleteFunc(secret.Data, func(entry string, _ []byte) bool { return !slices.Contains(entries, entry) })
	if err := f.api.Update(f.Context(), secret); err != nil {
		f.Fatal(err)
	}
}

func TestReconcile(t *testing.T) {
	f := newFixture(t)
	const crd = "CustomResourceDefinition"
	f.reconcile("PF-5: the server has its certificate before anybody is sent to it",
		"create Secret", "use", "register", "patch "+crd)
	f.reconcile("PF-5: everything stands")
	stands := definition(ConvertedName)
	if err := f.api.Get(t.Context(), client.ObjectKey{Name: ConvertedName}, stands); err != nil {
		t.Fatal(err)
	}
	got, _, err := unstructured.NestedString(stands.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	if want := byURL.URL + conversion.Path; err != nil || got != want {
		t.Errorf("URL %q (%v), want %q", got, err, want)
	}

	f.change(definition(ConvertedName), ConvertedName, `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	f.reconcile("PF-5: a user has removed the conversion", "patch "+crd)
	f.change(definition(ConvertedName), ConvertedName, `{"spec":{"scope":"Namespaced"}}`)
	f.reconcile("something else has changed")
	converts := f.s.Handlers[conversion.Path]
	delete(f.s.Handlers, conversion.Path)
	f.change(definition(ConvertedName), ConvertedName, `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	f.reconcile("PF-5: no conversion is served")
	f.s.Handlers[conversion.Path] = converts
	f.reconcile("PF-5: and again one", "patch "+crd)

	f.keepOnly(certificates.CAKey, certificates.CACert)
	f.reconcile("another certificate of the same authority", "patch Secret", "use")

	before := f.used
	f.keepOnly(certificates.CACert, "tls.crt")
	f.reconcile("another authority: both are registered first", "patch Secret", "register", "patch "+crd)
	if !cmp.Equal(before, f.used) {
		t.Error("the certificate changes before the API server can know the new authority")
	}
	f.reconcile("and the server changes over when it sees that", "use")
	if now, then := f.used[certificates.CACert], before[certificates.CACert]; bytes.HasPrefix(now, then) || !bytes.HasSuffix(now, then) {
		t.Error("the new authority does not stand before the old one")
	}
	f.reconcile("then everything stands")

	f.s.used = nil
	f.reconcile("by a replica that begins", "use")
	f.keepOnly()
	f.reconcile("everything was removed: the server changes over at once",
		"patch Secret", "use", "register", "patch "+crd)
	if err := f.api.Delete(t.Context(), definition(ConvertedName)); err != nil {
		t.Fatal(err)
	}
	f.reconcile("a definition that is not installed")
}

func TestReconcileWithoutRegistration(t *testing.T) {
	f := newFixture(t)
	f.s.Register = false
	f.reconcile("PF-5: another replica registers", "create Secret", "use")
}

// A definition that may not be read or written keeps nothing else from working.
func TestReconcileWithoutConversion(t *testing.T) {
	for refused, tried := range map[string][]string{"get": nil, "patch": {"patch CustomResourceDefinition"}} {
		t.Run("PF-5: no permission to "+refused, func(t *testing.T) {
			f := newFixture(t)
			f.refused = refused
			f.reconcile("at first", append([]string{"create Secret", "use", "register"}, tried...)...)
			f.reconcile("then", tried...)
		})
	}
}

// What fails is reported, and a conflict is how replicas take turns.
func TestReconcileFails(t *testing.T) {
	f := newFixture(t)
	f.s.present = func(context.Context, certificates.Bundle) error { return errors.New("no such port") }
	_, err := f.s.Reconcile(t.Context(), reconcile.Request{})
	if err == nil || !strings.Contains(err.Error(), "no such port") || !strings.Contains((*f.s.last.Load()).Error(), "no such port") || len(f.done) != 1 {
		t.Errorf("error %v, last error %v, after %v", err, (*f.s.last.Load()), f.done)
	}
	f.s.present = func(context.Context, certificates.Bundle) error {
		return apierrors.NewConflict(corev1.Resource("secrets"), "certs", nil)
	}
	if result, err := f.s.Reconcile(t.Context(), reconcile.Request{}); err != nil || result.RequeueAfter != answer {
		t.Errorf("after a conflict: %v, error %v", result, err)
	}
}
