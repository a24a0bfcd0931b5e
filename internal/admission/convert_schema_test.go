// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
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

// sameThings has a kind whose versions have the same fields, laterThings one whose CRD has both versions.
var (
	sameThings  = Conversions{Path: "/convert", All: []*Conversion{{Group: "x.io", Kind: "Thing", Resource: "things", Stored: V1alpha1}}}
	laterThings = Conversions{Path: "/convert", All: []*Conversion{{Group: "x.io", Kind: "Thing", Resource: "things", Stored: V1beta1}}}
)

// TestDefinitions shows what becomes of definitions with the versions in testdata/definitions.txt. A word is a version that was given,
// perhaps with "stored" or "unstored" before it. All else is JSON. What cannot be done leaves the definition as it was.
//
//	given NAME                a version
//	serve [nowhere] [same]    has v1beta1 served; by a webhook that is nowhere, or of a kind whose versions have the same fields
//	store                     has v1beta1 stored
//	webhook [later]           has the webhook set alone, at the place in the first line; of a kind whose CRD has both versions
//	… other                   a definition of another kind
func TestDefinitions(t *testing.T) {
	given, url := map[string]string{}, "https://hooks.example/convert"
	datadriven.RunTest(t, "testdata/definitions.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "given" {
			version, err := yaml.YAMLToJSON([]byte(d.Input))
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			name := d.CmdArgs[0].Key
			for stored, word := range map[string]string{`"storage":true`: "stored ", `"storage":false`: "unstored "} {
				given[word+name] = regexp.MustCompile(`"storage":(true|false)`).ReplaceAllString(string(version), stored)
			}
			given[name] = string(version)
			return ""
		}
		resource, client, kinds := "things", admissionregistrationv1.WebhookClientConfig{URL: &url}, things
		if d.HasArg("other") {
			resource = "others"
		}
		if d.HasArg("nowhere") {
			client.URL = nil
		}
		if d.HasArg("same") {
			kinds = sameThings
		} else if d.HasArg("later") {
			kinds = laterThings
		}
		versions := d.Input
		if d.Cmd == "webhook" {
			var place string
			place, versions, _ = strings.Cut(d.Input, "\n")
			client = admissionregistrationv1.WebhookClientConfig{}
			if err := yaml.UnmarshalStrict([]byte(place), &client); err != nil {
				d.Fatalf(t, "%v", err)
			}
		}
		before := client.DeepCopy()
		defer func() {
			if !reflect.DeepEqual(before, &client) {
				t.Errorf("%s: the caller's configuration has become %+v", d.Pos, client)
			}
		}()
		change := map[string]func(*unstructured.Unstructured) error{
			"serve":   func(crd *unstructured.Unstructured) error { return kinds.ServeV1beta1(crd, client) },
			"webhook": func(crd *unstructured.Unstructured) error { return kinds.SetWebhook(crd, client) },
			"store":   kinds.StoreV1beta1,
		}[d.Cmd]
		return definitionAfter(t, definition(t, resource, versions, given), change, given)
	})
}

// definition is a CRD with these versions.
func definition(t *testing.T, resource, text string, given map[string]string) *unstructured.Unstructured {
	t.Helper()
	var versions []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		versions = append(versions, cmp.Or(given[line], line))
	}
	list := "[" + strings.Join(versions, ",") + "]"
	if text == "3" {
		list = text
	}
	crd := &unstructured.Unstructured{}
	if err := crd.UnmarshalJSON([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + resource + `.x.io"},
		"spec":{"conversion":{"strategy":"former"},"versions":` + list + `}}`)); err != nil {
		t.Fatal(err)
	}
	return crd
}

// definitionAfter makes a change twice, and shows the versions and how they are converted, if that changes.
func definitionAfter(t *testing.T, crd *unstructured.Unstructured, change func(*unstructured.Unstructured) error, given map[string]string) string {
	t.Helper()
	before := crd.DeepCopy()
	if err := change(crd); err != nil {
		if !reflect.DeepEqual(before, crd) {
			t.Errorf("the definition has changed:\n%v", crd.Object)
		}
		return fmt.Sprintln("error:", err)
	}
	once := crd.DeepCopy()
	if err := change(crd); err != nil || !reflect.DeepEqual(once, crd) {
		t.Errorf("a second time: error %v, definition\n%v", err, crd.Object)
	}
	var out strings.Builder
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, version := range versions {
		text, err := json.Marshal(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(given))) {
			if given[name] == string(text) {
				text = []byte(name)
			}
		}
		fmt.Fprintln(&out, string(text))
	}
	if conversion, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion"); conversion["strategy"] != "former" {
		text, err := json.Marshal(conversion)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, string(text))
	}
	unstructured.RemoveNestedField(crd.Object, "spec")
	if unstructured.RemoveNestedField(before.Object, "spec"); !reflect.DeepEqual(before, crd) {
		t.Errorf("beside the spec, the definition has become %v", crd.Object)
	}
	return out.String()
}
