package registration

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/examples/manager/certificates"
	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/workloads/conversion"
)

// scene is an API server with the definition of StatefulSet, and a Loop.
type scene struct {
	*testing.T
	kubernetes *fake.Clientset
	dynamic    *dynamicfake.FakeDynamicClient
	loop       *Loop
	used       certificates.Bundle
	// done lists what the loop did, in its order: writes, and "use".
	done []string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, kubernetes: fake.NewClientset()}
	kinds := map[schema.GroupVersionResource]string{crds.Resource: "CustomResourceDefinitionList"}
	s.dynamic = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, definition(ConvertedName, object{"strategy": "None"}))
	s.loop = newLoop(t, s.kubernetes, func(c *Config) {
		c.Definitions, c.Target.Serves = s.dynamic, serves(mutatePath, validatePath, conversion.Path)
		c.Use = func(_ context.Context, bundle certificates.Bundle) error {
			s.used = bundle
			s.done = append(s.done, "use")
			return nil
		}
	})
	return s
}

// record begins to list the writes.
func (s *scene) record() {
	note := func(action clienttesting.Action) (bool, runtime.Object, error) {
		if verb := action.GetVerb(); verb == "create" || verb == "update" || verb == "patch" {
			s.done = append(s.done, verb+" "+action.GetResource().Resource)
		}
		return false, nil, nil
	}
	s.kubernetes.PrependReactor("*", "*", note)
	s.dynamic.PrependReactor("*", "*", note)
}

// pass does one pass, compares what it did, and has the caches see it.
func (s *scene) pass(step string, want ...string) {
	s.Helper()
	s.done = nil
	s.dynamic.ClearActions()
	if err := s.loop.pass(s.Context()); err != nil {
		s.Fatalf("%s: %v", step, err)
	}
	if diff := cmp.Diff(want, s.done); diff != "" {
		s.Errorf("%s: what was done (-want +got):\n%s", step, diff)
	}
	if asked := s.dynamic.Actions(); len(asked) > 1 || len(want) == 0 && len(asked) > 0 {
		s.Errorf("%s: requests for definitions: %v", step, asked)
	}
	s.sync()
}

func (s *scene) sync() {
	s.Helper()
	s.loop.sync(s.T, s.kubernetes)
	if err := s.loop.definition.GetStore().Add(s.definition()); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) definition() *unstructured.Unstructured {
	s.Helper()
	found, err := s.dynamic.Resource(crds.Resource).Get(s.Context(), ConvertedName, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return found
}

// change patches an object by hand.
func (s *scene) change(patch string) {
	s.Helper()
	_, err := s.dynamic.Resource(crds.Resource).Patch(s.Context(), ConvertedName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		s.Fatal(err)
	}
	s.sync()
}

// keepOnly removes the other entries of the Secret.
func (s *scene) keepOnly(keys ...string) {
	s.Helper()
	secrets := s.kubernetes.CoreV1().Secrets("kruise-system")
	secret, err := secrets.Get(s.Context(), "certs", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	data := map[string][]byte{}
	for _, key := range keys {
		data[key] = secret.Data[key]
	}
	secret.Data, secret.ResourceVersion = data, "7" // the fake has no versions
	if _, err := secrets.Update(s.Context(), secret, metav1.UpdateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.sync()
}

func TestPassRegistersTheConversion(t *testing.T) {
	s := newScene(t)
	const mutating, validating, converting = "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "customresourcedefinitions"
	s.record()
	if err := s.loop.definition.GetStore().Add(s.definition()); err != nil {
		t.Fatal(err)
	}
	s.pass("the server has its certificate before anybody is sent to it",
		"create secrets", "use", "create "+mutating, "create "+validating, "patch "+converting)
	s.pass("everything stands")
	got, _, err := unstructured.NestedString(s.definition().Object, "spec", "conversion", "webhook", "clientConfig", "url")
	if want := byURL.URL + conversion.Path; err != nil || got != want {
		t.Errorf("URL %q (%v), want %q", got, err, want)
	}

	s.change(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	s.pass("somebody has removed it", "patch "+converting)
	s.change(`{"spec":{"scope":"Namespaced"}}`)
	s.pass("something else has changed")

	s.keepOnly("ca-key.pem", "ca-cert.pem")
	s.pass("another certificate of the same authority", "patch secrets", "use")

	before := s.used
	s.keepOnly("ca-cert.pem", "tls.crt")
	s.pass("another authority: both are registered first", "patch secrets", "update "+mutating, "update "+validating, "patch "+converting)
	if !cmp.Equal(before, s.used) {
		t.Error("the certificate changes before the API server can know the new authority")
	}
	s.pass("and the server changes over when it sees that", "use")
	if bytes.HasPrefix(s.used.CACert, before.CACert) || !bytes.HasSuffix(s.used.CACert, before.CACert) {
		t.Error("the new authority does not stand before the old one")
	}
	s.pass("then everything stands")

	s.loop.used = certificates.Bundle{}
	s.pass("by a replica that begins", "use")

	s.keepOnly()
	s.pass("everything was removed: the server changes over at once",
		"patch secrets", "use", "update "+mutating, "update "+validating, "patch "+converting)
}

// Without its definition, or without permission, everything else works.
func TestRunWithoutConversion(t *testing.T) {
	cases := map[string]struct {
		verb string // that is forbidden
		want string // in LastError
	}{
		"PF-5: no permission to read":  {verb: "list"},
		"PF-5: no permission to write": {verb: "patch", want: "CRD statefulsets.apps.kruise.io: "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.dynamic.PrependReactor(c.verb, "customresourcedefinitions", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(crds.Resource.GroupResource(), ConvertedName, errors.New("no such role"))
			})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.loop.Run(ctx) }()
			select {
			case <-s.loop.Succeeded():
			case <-ctx.Done():
				t.Fatalf("no success: %v", s.loop.LastError())
			}
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run ends with %v", err)
			}
			if strategy, _, err := unstructured.NestedString(s.definition().Object, "spec", "conversion", "strategy"); err != nil || strategy != "None" {
				t.Errorf("strategy %q (%v), want None", strategy, err)
			}
			switch err := s.loop.LastError(); {
			case c.want == "" && err != nil:
				t.Errorf("error %v, want none", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), withoutConversion)):
				t.Errorf("error %v, want %q and what to do", err, c.want)
			}
		})
	}
}

// A definition that is installed later gets its webhook; the cache keeps no more
// of it than that needs.
func TestRunRegistersTheConversionOfALaterDefinition(t *testing.T) {
	s := newScene(t)
	definitions := s.dynamic.Resource(crds.Resource)
	if err := definitions.Delete(t.Context(), ConvertedName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	patched := make(chan struct{}, 1)
	s.dynamic.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		patched <- struct{}{}
		return false, nil, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.loop.Run(ctx) }()
	select {
	case <-s.loop.Succeeded():
	case <-ctx.Done():
		t.Fatalf("no success: %v", s.loop.LastError())
	}
	installed := definition(ConvertedName, object{"strategy": "None"})
	if err := unstructured.SetNestedField(installed.Object, "apps.kruise.io", "spec", "group"); err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Create(ctx, installed, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-patched:
	case <-ctx.Done():
		t.Fatal("a definition that is installed later gets no webhook")
	}
	kept := cached[*unstructured.Unstructured](s.loop.definition, ConvertedName)
	if group, found, err := unstructured.NestedString(kept.Object, "spec", "group"); found || err != nil {
		t.Errorf("the cache keeps the group %q (%v) of the definition", group, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run ends with %v", err)
	}
}
