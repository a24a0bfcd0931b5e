// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/conversion"
)

type dict = map[string]any

// definitionOf is a CRD with this spec.conversion; without one if it is nil.
func definitionOf(name string, spec dict) *unstructured.Unstructured {
	d := &unstructured.Unstructured{Object: dict{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": dict{"name": name, "resourceVersion": "7"}, "spec": dict{},
	}}
	if spec != nil {
		d.Object["spec"] = dict{"conversion": spec}
	}
	return d
}

// webhookAt is the spec.conversion of a webhook.
func webhookAt(client dict, versions ...any) dict {
	return dict{"strategy": "Webhook", "webhook": dict{"clientConfig": client, "conversionReviewVersions": versions}}
}

func TestConversion(t *testing.T) {
	service, url := manager.Target{Namespace: "kruise-system", Service: "hooks", CABundle: []byte("ca")}, byURL
	atService := dict{"service": dict{"namespace": "kruise-system", "name": "hooks", "path": "/convert", "port": int64(443)}, "caBundle": "Y2E="}
	at := dict{"url": "https://10.0.0.1:9876/convert", "caBundle": "Y2E="}
	cases := map[string]struct {
		target    manager.Target
		name      string // default: ConvertedName
		standing  dict
		want      dict
		unchanged bool
	}{
		"PF-5: by the Service":                    {target: service, standing: dict{"strategy": "None"}, want: webhookAt(atService, "v1")},
		"PF-5: by URL, with a webhook host":       {target: url, standing: dict{"strategy": "None"}, want: webhookAt(at, "v1")},
		"PF-5: no conversion at all":              {target: service, want: webhookAt(atService, "v1")},
		"PF-5: it stands":                         {target: service, standing: webhookAt(atService, "v1"), want: webhookAt(atService, "v1"), unchanged: true},
		"PF-5: the Service becomes a URL":         {target: url, standing: webhookAt(atService, "v1"), want: webhookAt(at, "v1")},
		"PF-5: a new CA":                          {target: url, standing: webhookAt(dict{"url": at["url"], "caBundle": "b2xk"}, "v1"), want: webhookAt(at, "v1")},
		"PF-5: a manifest without CA":             {target: url, standing: webhookAt(dict{"url": at["url"]}, "v1"), want: webhookAt(at, "v1")},
		"PF-5: OpenKruise's versions are as good": {target: url, standing: webhookAt(at, "v1", "v1beta1"), want: webhookAt(at, "v1", "v1beta1"), unchanged: true},
		"PF-5: they stay when something changes":  {target: service, standing: webhookAt(at, "v1beta1", "v1"), want: webhookAt(atService, "v1beta1", "v1")},
		"PF-5: versions without v1 do not":        {target: url, standing: webhookAt(at, "v1beta1"), want: webhookAt(at, "v1")},
		"PF-5: a kind with one version": {
			target: url, name: "clonesets.apps.kruise.io", standing: dict{"strategy": "None"}, want: dict{"strategy": "None"}, unchanged: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.name == "" {
				c.name = ConvertedName
			}
			got := definitionOf(c.name, c.standing)
			if err := convert(got, c.target, conversion.Path, conversion.SetWebhook); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(definitionOf(c.name, c.want), got); diff != "" {
				t.Errorf("definition (-want +got):\n%s", diff)
			}
			if changed := !apiequality.Semantic.DeepEqual(got, definitionOf(c.name, c.standing)); changed == c.unchanged {
				t.Errorf("changed: %v, want %v", changed, !c.unchanged)
			}
			before := got.DeepCopy()
			if err := convert(got, c.target, conversion.Path, conversion.SetWebhook); err != nil || !apiequality.Semantic.DeepEqual(before, got) {
				t.Errorf("a second look wants another change (%v)", err)
			}
		})
	}
	broken := definitionOf(ConvertedName, nil)
	broken.Object["spec"] = "x"
	if err := convert(broken, url, conversion.Path, conversion.SetWebhook); err == nil {
		t.Error("no error for a definition whose spec is no object")
	}
}

// definitionsOnDemand are those that have v1alpha1 alone as they come.
func definitionsOnDemand(t *testing.T) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, crd := range slices.Concat(workloads.CRDs(), sidecar.CRDs(), distribution.CRDs()) {
		if slices.Contains(namesOnDemand(), crd.GetName()) {
			all = append(all, crd)
		}
	}
	if len(all) != len(namesOnDemand()) {
		t.Fatalf("%d definitions for the names %v", len(all), namesOnDemand())
	}
	return all
}

// sameFields tells whether both versions of a definition have the same fields: then the API server converts by itself.
func sameFields(crd *unstructured.Unstructured) bool {
	all := versions(crd)
	return len(all) == 2 && cmp.Equal(all[0].(map[string]any)["schema"], all[1].(map[string]any)["schema"])
}

// PF-5.2: if v1beta1 is to be served, and the server converts, definitions get both; otherwise they stay as they are.
func TestServeV1beta1(t *testing.T) {
	f := newFixture(t)
	for _, crd := range definitionsOnDemand(t) {
		if err := f.api.Create(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
	}
	const patch = "patch CustomResourceDefinition"
	first := []string{"create Secret", "use", "register", patch}
	f.reconcile("it is not to be served", first...)
	name := onDemand[1].names[0]
	if f.s.Plain(name) {
		t.Error("a definition that no handler converts was read")
	}
	f.s.Handlers["/convert-sidecar"] = http.NotFoundHandler()
	f.reconcile("nothing is stored as v1beta1")
	if !f.s.Plain(name) {
		t.Error("PF-5.3: it is not known that the definition was just read")
	}
	delete(f.s.Handlers, "/convert-sidecar")

	f.s.ServeV1beta1 = true
	if f.s.Plain(name) {
		t.Error("PF-5.3: a definition is as it comes, though v1beta1 is to be served")
	}
	f.reconcile("no such conversion is served but that of workloads", patch, patch, patch)
	for path, handler := range Conversions() {
		f.s.Handlers[path] = handler
	}
	f.reconcile("the others", patch, patch, patch, patch)
	f.reconcile("everything stands")
	for _, area := range onDemand {
		for _, name := range area.names {
			crd := definition(name)
			if err := f.api.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
				t.Fatal(err)
			}
			url, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "url")
			want := byURL.URL + area.path
			if sameFields(crd) {
				want = ""
			}
			if got := names(crd); !slices.Equal(got, []string{"v1alpha1", "v1beta1"}) || url != want {
				t.Errorf("%s has the versions %v, converted at %q, want %q", name, got, url, want)
			}
		}
	}

	f.change(definition(name), name, `{"spec":{"versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{}}}}}}]}}`)
	f.reconcile("a user has applied the definition as it comes", patch)
	f.reconcile("everything stands again")
	f.change(definition(name), name, `{"spec":{"versions":[]}}`)
	f.reconcile("a definition that cannot be changed keeps nothing else from working")
}

// PF-5.3: a definition that stores v1beta1 is converted, and its versions stay, whether or not v1beta1 is to be served.
func TestConvertsWhatIsStored(t *testing.T) {
	f := newFixture(t)
	for path, handler := range Conversions() {
		f.s.Handlers[path] = handler
	}
	const patch = "patch CustomResourceDefinition"
	f.reconcile("at first", "create Secret", "use", "register", patch)
	crd := standingAs(t, onDemand[1].names[0], v1beta1, v1beta1)
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	if err := f.api.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	before := versions(crd)
	f.reconcile("it is converted", patch)
	f.reconcile("it stands")
	got := definition(crd.GetName())
	if err := f.api.Get(t.Context(), client.ObjectKeyFromObject(crd), got); err != nil {
		t.Fatal(err)
	}
	url, _, _ := unstructured.NestedString(got.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	if diff := cmp.Diff(before, versions(got)); diff != "" || url != byURL.URL+"/convert-sidecar" {
		t.Errorf("converted at %q, versions (-want +got):\n%s", url, diff)
	}
}
