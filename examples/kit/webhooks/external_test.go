// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/kit/webhooks/certificates"
	"github.com/podwright/podwright/manager"
)

// external is a server whose certificates another program provides, and that program.
type external struct {
	*fixture
	*configurations
}

func newExternal(t *testing.T) *external {
	t.Helper()
	f := newFixture(t)
	f.s.External, f.s.CertWriter = true, ""
	f.s.Annotations = map[string]string{"cert-manager.io/inject-ca-from": "kruise-system/webhooks"}
	at := func(path string) admissionv1.WebhookClientConfig {
		url := byURL.URL + path
		return admissionv1.WebhookClientConfig{URL: &url}
	}
	elsewhere := "https://elsewhere.example.com/x"
	for _, object := range []client.Object{
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: manager.MutatingName}, Webhooks: []admissionv1.MutatingWebhook{
			{Name: "mpod.kb.io", ClientConfig: at("/mutate-pod")},
			{Name: "other.example.com", ClientConfig: admissionv1.WebhookClientConfig{URL: &elsewhere}},
		}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: manager.ValidatingName}, Webhooks: []admissionv1.ValidatingWebhook{
			{Name: "va.kb.io", ClientConfig: at("/a")}, {Name: "vb.kb.io", ClientConfig: at("/b")}, {Name: "vc.kb.io", ClientConfig: at("/c")}, {Name: "vd.kb.io", ClientConfig: at("/d")},
		}},
	} {
		if err := f.api.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	f.done = nil
	return &external{fixture: f, configurations: f.s.Webhooks.(*configurations)}
}

// provide makes a certificate, and writes it to the Secret, from which entries may be left out.
func (e *external) provide(authority certificates.Bundle, without ...string) certificates.Bundle {
	e.Helper()
	bundle, err := certificates.Renew(authority, "10.0.0.1", time.Now(), 0)
	if err != nil {
		e.Fatal(err)
	}
	data := map[string][]byte{"ca.crt": bundle[certificates.CACert], "tls.crt": bundle[certificates.Cert], "tls.key": bundle[certificates.Key]}
	for _, entry := range without {
		delete(data, entry)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kruise-system", Name: "certs"}, Data: data}
	if err := e.api.Delete(e.Context(), secret.DeepCopy()); client.IgnoreNotFound(err) != nil {
		e.Fatal(err)
	}
	if err := e.api.Create(e.Context(), secret); err != nil {
		e.Fatal(err)
	}
	return bundle
}

// inject writes the caBundle of the configurations of some kinds, and of the definition, as an injector does.
func (e *external) inject(bundle certificates.Bundle, kinds ...string) {
	e.Helper()
	if slices.Contains(kinds, "mutating") {
		c := &admissionv1.MutatingWebhookConfiguration{}
		e.get(manager.MutatingName, c)
		for i := range c.Webhooks {
			c.Webhooks[i].ClientConfig.CABundle = bundle[certificates.CACert]
		}
		e.update(c)
	}
	if slices.Contains(kinds, "validating") {
		c := &admissionv1.ValidatingWebhookConfiguration{}
		e.get(manager.ValidatingName, c)
		for i := range c.Webhooks {
			c.Webhooks[i].ClientConfig.CABundle = bundle[certificates.CACert]
		}
		e.update(c)
	}
	if slices.Contains(kinds, "definition") {
		text, err := json.Marshal(base64.StdEncoding.EncodeToString(bundle[certificates.CACert]))
		if err != nil {
			e.Fatal(err)
		}
		e.change(definition(ConvertedName), ConvertedName, `{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":`+string(text)+`}}}}}`)
	}
}

func (e *external) get(name string, object client.Object) {
	e.Helper()
	if err := e.api.Get(e.Context(), client.ObjectKey{Name: name}, object); err != nil {
		e.Fatal(err)
	}
}

func (e *external) update(object client.Object) {
	e.Helper()
	if err := e.api.Update(e.Context(), object); err != nil {
		e.Fatal(err)
	}
}

// look looks once, and compares what was done, and what is said not to be in order.
func (e *external) look(step string, problems []string, done ...string) {
	e.Helper()
	e.done = nil
	result, err := e.s.Reconcile(e.Context(), reconcile.Request{})
	if err != nil {
		e.Fatalf("%s: %v", step, err)
	}
	if diff := cmp.Diff(done, e.done); diff != "" {
		e.Errorf("%s: what was done (-want +got):\n%s", step, diff)
	}
	for _, problem := range problems {
		if !strings.Contains(e.s.said.what, problem) {
			e.Errorf("%s: it is said that %q, want %q", step, e.s.said.what, problem)
		}
	}
	if want := map[bool]time.Duration{true: resync, false: retry}[len(problems) == 0]; result.RequeueAfter != want || len(problems) == 0 && e.s.said.what != "" {
		e.Errorf("%s: the next look is after %v, want %v; it is said that %q", step, result.RequeueAfter, want, e.s.said.what)
	}
}

// The whole of it: the server starts when another program has done its part, and follows it. (PF-5.4)
func TestExternalCertificates(t *testing.T) {
	e := newExternal(t)
	const patch = "patch CustomResourceDefinition"
	e.look("PF-5.4: no Secret", []string{"there is no Secret kruise-system/certs: ", "ca.crt, tls.crt and tls.key for 10.0.0.1"})
	e.provide(nil, "tls.key")
	e.look("PF-5.4: an incomplete one", []string{"Secret kruise-system/certs, which another program provides: it lacks tls.key"})
	if e.used != nil {
		t.Error("PF-5.4: an incomplete certificate is served")
	}
	first := e.provide(nil)
	e.look("PF-5.4: no caBundle yet", []string{
		"MutatingWebhookConfiguration kruise-mutating-webhook-configuration: there is no caBundle for mpod.kb.io: ",
		"there is no caBundle for va.kb.io, vb.kb.io, vc.kb.io and 1 more: ", "cert-manager.io/inject-ca-from",
	}, "use", "register", patch)
	if !e.keeps || cmp.Diff(e.s.Annotations, e.annotations) != "" {
		t.Errorf("PF-5.4: registered with caBundles: %t, annotations %v", !e.keeps, e.annotations)
	}
	crd := definition(ConvertedName)
	e.get(ConvertedName, crd)
	bundle, found, _ := unstructured.NestedString(crd.Object, caBundleOf...)
	if found || !converts(crd) || cmp.Diff(e.s.Annotations, crd.GetAnnotations()) != "" {
		t.Errorf("PF-5.4: the definition has the caBundle %q, annotations %v", bundle, crd.GetAnnotations())
	}
	e.inject(first, "mutating")
	e.look("PF-5.4: in one of two", []string{"ValidatingWebhookConfiguration kruise-validating-webhook-configuration: there is no caBundle"})
	e.inject(first, "validating")
	e.look("PF-5.4: a definition keeps nothing else from working", []string{"CustomResourceDefinition " + ConvertedName + ": there is no caBundle for spec.conversion"}, "succeeded")
	e.inject(first, "definition")
	e.look("PF-5.4: all is in order", nil, "succeeded")

	second := e.provide(first)
	e.look("PF-5.4: another certificate of the same authority", nil, "use", "succeeded")
	if string(e.used[certificates.Cert]) != string(second[certificates.Cert]) {
		t.Error("PF-5.4: the server presents another certificate than that of the Secret")
	}
	third := e.provide(nil)
	e.look("PF-5.4: another authority, which is not injected yet: the server goes on with what it has", nil, "succeeded")
	if string(e.used[certificates.Cert]) != string(second[certificates.Cert]) {
		t.Error("PF-5.4: the server presents what no caBundle accepts")
	}
	e.inject(third, "mutating", "validating")
	e.look("PF-5.4: it is: the server changes over", []string{"CustomResourceDefinition " + ConvertedName + ": the caBundle for spec.conversion does not accept the certificate of the server (x509: "}, "use", "succeeded")
	e.inject(third, "definition")
	e.look("PF-5.4: and everything is in order", nil, "succeeded")

	e.keepOnly("tls.crt")
	e.look("PF-5.4: the Secret is damaged: the server goes on", []string{"it lacks ca.crt and tls.key"})
	if string(e.used[certificates.Cert]) != string(third[certificates.Cert]) {
		t.Error("PF-5.4: the server does not go on with the certificate that it has")
	}
}

// What another program registers is looked at all the same, and not written.
func TestExternalCertificatesWithoutRegistration(t *testing.T) {
	e := newExternal(t)
	e.s.Register = false
	first := e.provide(nil)
	e.look("PF-5.4: no caBundles", []string{"there is no caBundle for mpod.kb.io"}, "use")
	e.inject(first, "mutating", "validating")
	e.look("PF-5.4: the definition leads nowhere", nil, "succeeded")
	e.change(definition(ConvertedName), ConvertedName, `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://10.0.0.1:9876/convert"}}}}}`)
	e.look("PF-5.4: the definition leads to it", []string{"there is no caBundle for spec.conversion"}, "succeeded")
	if err := e.api.Delete(t.Context(), &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: manager.ValidatingName}}); err != nil {
		t.Fatal(err)
	}
	e.look("PF-5.4: there is none", []string{"there is no ValidatingWebhookConfiguration kruise-validating-webhook-configuration: apply it"})
}

// What is not in order is said once a minute, and at once if it is something else. What may not be read is an error of the start.
func TestExternalCertificatesAreSpokenOf(t *testing.T) {
	e := newExternal(t)
	e.s.present = func(context.Context, certificates.Bundle) error { return errors.New("no such port") }
	e.provide(nil)
	e.look("it cannot be presented", []string{"no such port"})
	if last := *e.s.last.Load(); last == nil || !strings.Contains(last.Error(), "no such port") {
		t.Errorf("the start ends with %v", last)
	}
	before := e.s.said.at
	e.look("again", []string{"no such port"})
	if e.s.said.at != before {
		t.Error("the same is said again within a minute")
	}
	e.s.said.at = before.Add(-2 * resync)
	e.look("a minute later", []string{"no such port"})
	if !e.s.said.at.After(before.Add(-resync)) {
		t.Error("it is not said again after a minute")
	}
}

// What it takes is to read what the other program writes.
func TestExternalPermissions(t *testing.T) {
	allows := func(o Options, verb, group, resource, namespace, name string) bool {
		return slices.ContainsFunc(o.Permissions("ops"), func(p permissions.Part) bool { return p.Allows(verb, group, resource, namespace, name) })
	}
	for _, register := range []bool{true, false} {
		o := Options{Enabled: true, Register: register, Secret: "certs", External: true}
		for _, verb := range []string{"list", "watch", "create", "update", "patch", "delete"} {
			if allows(o, verb, "", "secrets", "ops", "certs") {
				t.Errorf("PF-5.4: it may %s the Secret", verb)
			}
		}
		if !allows(o, "get", "", "secrets", "ops", "certs") || allows(o, "get", "", "secrets", "ops", "other") || allows(o, "get", "", "secrets", "shop", "certs") {
			t.Error("PF-5.4: it may not read its Secret, or another one")
		}
		if !allows(o, "get", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", manager.ValidatingName) || !allows(o, "get", "apiextensions.k8s.io", "customresourcedefinitions", "", onDemand[0].names[0]) {
			t.Error("PF-5.4: it may not look at what leads to it")
		}
		if got := allows(o, "update", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", manager.ValidatingName); got != register {
			t.Errorf("PF-5.4: it may register: %t, want %t", got, register)
		}
	}
}

// What leads to the server, by its Service or its URL, is looked at, and nothing else.
func TestWhatLeadsToTheServer(t *testing.T) {
	at := func(namespace, name, url string) admissionv1.WebhookClientConfig {
		if url != "" {
			return admissionv1.WebhookClientConfig{URL: &url}
		}
		return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: namespace, Name: name}}
	}
	for name, c := range map[string]struct {
		config admissionv1.WebhookClientConfig
		url    string
		leads  bool
	}{
		"PF-5.4: its Service":        {at("ops", "hooks", ""), "", true},
		"PF-5.4: another Service":    {at("ops", "other", ""), "", false},
		"PF-5.4: another namespace":  {at("shop", "hooks", ""), "", false},
		"PF-5.4: its URL":            {at("", "", "https://h:1/a"), "https://h:1", true},
		"PF-5.4: a URL like it":      {at("", "", "https://h:12/a"), "https://h:1", false},
		"PF-5.4: a URL, it has none": {at("", "", "https://h:1/a"), "", false},
		"PF-5.4: nothing is named":   {admissionv1.WebhookClientConfig{}, "https://h:1", false},
	} {
		s := &Server{Options: Options{Service: "hooks"}, Namespace: "ops", url: c.url}
		l := leads{}
		if s.add(&l, "w", &c.config); (len(l.webhooks) == 1) != c.leads || len(l.bundles) != len(l.webhooks) {
			t.Errorf("%s: %v", name, l)
		}
	}
}

// A conflict is how replicas take turns, also with certificates of another program.
func TestExternalConflict(t *testing.T) {
	e := newExternal(t)
	e.provide(nil)
	e.s.present = func(context.Context, certificates.Bundle) error {
		return apierrors.NewConflict(corev1.Resource("secrets"), "certs", nil)
	}
	if result, err := e.s.Reconcile(t.Context(), reconcile.Request{}); err != nil || result.RequeueAfter != answer || e.s.said.what != "" {
		t.Errorf("after a conflict: %v, error %v, said %q", result, err, e.s.said.what)
	}
}
