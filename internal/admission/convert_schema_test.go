// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// thing is a kind that differs in every way that there is.
var thing = &Conversion{
	Group: "x.io", Kind: "Thing", Resource: "things", Stored: V1alpha1,
	Fields: []ConvertedField{
		{In: V1beta1, Path: Path{"spec", "later"}, Check: Decodes[string](), Schema: `{"type":"string"}`},
		{In: V1beta1, Path: Path{"status", "revision"}, Twin: Path{"status", "hash"}, Schema: `{"type":"string"}`},
		{In: V1alpha1, Path: Path{"spec", "former"}, Check: Decodes[string]()},
	},
	NoRules:   []string{"self.spec.former"},
	NoColumns: []string{"FORMER"},
}

var things = Conversions{Path: "/convert", All: []*Conversion{thing}}

// definition is a CRD with these versions, in JSON.
func definition(t *testing.T, name, versions string) *unstructured.Unstructured {
	t.Helper()
	crd := &unstructured.Unstructured{}
	if err := crd.UnmarshalJSON([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + name + `"},"spec":{"versions":` + versions + `}}`)); err != nil {
		t.Fatal(err)
	}
	return crd
}

const (
	alphaThing = `{"name":"v1alpha1","served":true,"storage":true,"subresources":{"status":{}},"additionalPrinterColumns":[{"name":"FORMER"},{"name":"AGE"}],
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-validations":[{"rule":"self.spec.size > 0","message":"m","fieldPath":".spec.size"},{"rule":"has(self.spec.former)"},{"rule":"true"}],
		"properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"},"former":{"type":"string"},"same":{"type":"string"}},"required":["former","same"]},
		"status":{"type":"object","properties":{"hash":{"type":"string"}},"required":["hash"]}}}}}`
	betaThing = `{"name":"v1beta1","served":true,"storage":false,"subresources":{"status":{}},"additionalPrinterColumns":[{"name":"AGE"}],
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-validations":[{"rule":"self.spec.size > 0","message":"m","fieldPath":".spec.size"},{"rule":"true"}],
		"properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"},"later":{"type":"string"},"same":{"type":"string"}},"required":["same"]},
		"status":{"type":"object","properties":{"revision":{"type":"string"}},"required":["revision"]}}}}}`
	ofOthers = `{"name":"v1beta1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}`
)

func TestServeV1beta1(t *testing.T) {
	url := "https://hooks.example/convert"
	client := admissionregistrationv1.WebhookClientConfig{URL: &url}
	notStored := strings.Replace(alphaThing, `"storage":true`, `"storage":false`, 1)
	for _, test := range []struct{ name, resource, versions, want string }{
		{"v1beta1 is added", "things.x.io", "[" + alphaThing + "]", "[" + alphaThing + "," + betaThing + "]"},
		{"it stands already", "things.x.io", "[" + alphaThing + "," + betaThing + "]", "[" + alphaThing + "," + betaThing + "]"},
		{"an older one is made anew, where it stands", "things.x.io", `[{"name":"v1beta1","served":false},` + alphaThing + "]", "[" + betaThing + "," + alphaThing + "]"},
		{"one in which objects are stored stays", "things.x.io", "[" + notStored + "," + ofOthers + "]", "[" + notStored + "," + ofOthers + "]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			crd, want := definition(t, test.resource, test.versions), definition(t, test.resource, test.want)
			if err := things.ServeV1beta1(crd, client); err != nil {
				t.Fatal(err)
			}
			conversion, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion")
			wantConversion := map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": url}}}
			if diff := cmp.Diff(wantConversion, conversion); diff != "" {
				t.Errorf("conversion (-want +got):\n%s", diff)
			}
			unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
			if diff := cmp.Diff(want.Object, crd.Object); diff != "" {
				t.Errorf("definition (-want +got):\n%s", diff)
			}
			again := crd.DeepCopy()
			if err := things.ServeV1beta1(again, client); err != nil {
				t.Fatal(err)
			}
			unstructured.RemoveNestedField(again.Object, "spec", "conversion")
			if diff := cmp.Diff(crd.Object, again.Object); diff != "" {
				t.Errorf("a second time (-want +got):\n%s", diff)
			}
		})
	}
}

// PF-5.3: the version in which objects are stored is another one, and nothing else is.
func TestStoreV1beta1(t *testing.T) {
	stored := func(version string) string { return strings.Replace(version, `"storage":false`, `"storage":true`, 1) }
	not := func(version string) string { return strings.Replace(version, `"storage":true`, `"storage":false`, 1) }
	for _, test := range []struct{ name, resource, versions, want string }{
		{"both versions", "things.x.io", "[" + alphaThing + "," + betaThing + "]", "[" + not(alphaThing) + "," + stored(betaThing) + "]"},
		{"it is so", "things.x.io", "[" + not(alphaThing) + "," + stored(betaThing) + "]", "[" + not(alphaThing) + "," + stored(betaThing) + "]"},
		{"a definition without the version", "things.x.io", "[" + alphaThing + "]", "[" + alphaThing + "]"},
		{"another kind", "others.x.io", "[" + alphaThing + "," + betaThing + "]", "[" + alphaThing + "," + betaThing + "]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			crd := definition(t, test.resource, test.versions)
			if err := things.StoreV1beta1(crd); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(definition(t, test.resource, test.want).Object, crd.Object); diff != "" {
				t.Errorf("definition (-want +got):\n%s", diff)
			}
		})
	}
	if err := things.StoreV1beta1(definition(t, "things.x.io", "3")); err == nil || !strings.Contains(err.Error(), "storing things.x.io as v1beta1: ") {
		t.Errorf("versions that are no list: error %v", err)
	}
}

// IMG-1.7: the API server converts by itself what has the same fields.
func TestServeV1beta1OfTheSameFields(t *testing.T) {
	same := Conversions{Path: "/convert", All: []*Conversion{{Group: "x.io", Kind: "Thing", Resource: "things", Stored: V1alpha1}}}
	crd := definition(t, "things.x.io", "["+alphaThing+"]")
	crd.Object["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{}}
	if err := same.ServeV1beta1(crd, admissionregistrationv1.WebhookClientConfig{}); err != nil {
		t.Fatal(err)
	}
	conversion, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion")
	if diff := cmp.Diff(map[string]any{"strategy": "None"}, conversion); diff != "" {
		t.Errorf("conversion (-want +got):\n%s", diff)
	}
}

// What cannot be done leaves the definition as it was.
func TestServeV1beta1Errors(t *testing.T) {
	url := "https://hooks.example/convert"
	at := admissionregistrationv1.WebhookClientConfig{URL: &url}
	for _, test := range []struct {
		name, versions string
		client         admissionregistrationv1.WebhookClientConfig
		want           string
	}{
		{"nowhere", "[" + alphaThing + "]", admissionregistrationv1.WebhookClientConfig{}, "conversion webhook of things.x.io: want a service or a URL, got neither"},
		{"no versions", "[]", at, "v1beta1 of things.x.io: spec.versions: want v1alpha1, from which v1beta1 is made, found none"},
		{"versions that are no list", "3", at, "v1beta1 of things.x.io: .spec.versions accessor error"},
		{"no schema", `[{"name":"v1alpha1"}]`, at, "spec.versions[v1alpha1].schema.openAPIV3Schema: want a schema, found none"},
		{"no fields", `[{"name":"v1alpha1","schema":{"openAPIV3Schema":{"type":"object"}}}]`, at, "schema of spec.later: want spec to have properties, found none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			crd := definition(t, "things.x.io", test.versions)
			if err := things.ServeV1beta1(crd, test.client); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if diff := cmp.Diff(definition(t, "things.x.io", test.versions), crd); diff != "" {
				t.Errorf("definition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOtherDefinitionsStayAsTheyAre(t *testing.T) {
	other := definition(t, "others.x.io", "[]")
	for name, change := range map[string]func(*unstructured.Unstructured, admissionregistrationv1.WebhookClientConfig) error{"SetWebhook": things.SetWebhook, "ServeV1beta1": things.ServeV1beta1} {
		if err := change(other, admissionregistrationv1.WebhookClientConfig{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(definition(t, "others.x.io", "[]"), other); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestKindsConvert(t *testing.T) {
	for _, test := range []struct{ name, object, want, wantError string }{
		{"an object of the kinds", `{"apiVersion":"x.io/v1alpha1","kind":"Thing"}`, `{"apiVersion":"x.io/v1beta1","kind":"Thing"}`, ""},
		{"a field that has the other name already", `{"apiVersion":"x.io/v1alpha1","kind":"Thing","status":{"hash":"a","revision":"b"}}`, `{"apiVersion":"x.io/v1beta1","kind":"Thing","status":{"revision":"a"}}`, ""},
		{"another kind", `{"apiVersion":"x.io/v1alpha1","kind":"Other"}`, "", `kind: want Thing, got "Other"`},
		{"no object", `[]`, "", "want an object as JSON: want an object, got an array"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := things.convert([]byte(test.object), "x.io/v1beta1")
			if string(got) != test.want || (err == nil) != (test.wantError == "") || err != nil && !strings.Contains(err.Error(), test.wantError) {
				t.Errorf("%s, error %v; want %s, %q", got, err, test.want, test.wantError)
			}
		})
	}
}
