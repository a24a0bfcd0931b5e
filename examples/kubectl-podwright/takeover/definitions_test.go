// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	distributionconversion "github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	sidecarconversion "github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/workloads"
	workloadsconversion "github.com/podwright/podwright/workloads/conversion"
)

var rewrite = flag.Bool("rewrite", false, "write definitions.txt")

// definitions.txt says of podwright's CRDs what they say: go test ./kubectl-podwright/takeover -rewrite writes it. (KC-29)
func TestDefinitionsText(t *testing.T) {
	serve := []func(*unstructured.Unstructured, admissionregistrationv1.WebhookClientConfig) error{
		workloadsconversion.ServeV1beta1, sidecarconversion.ServeV1beta1, distributionconversion.ServeV1beta1}
	var text strings.Builder
	definitions := slices.Concat(workloads.CRDs(), distribution.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs())
	slices.SortFunc(definitions, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	for _, d := range definitions {
		fmt.Fprintf(&text, "%s %v %v\n", d.GetName(), field(t, d.Object, "spec", "group"), field(t, d.Object, "spec", "names", "kind"))
		plain := versionsOf(d)
		for _, add := range serve { // those of other areas add nothing
			if err := add(d, admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://localhost/convert")}); err != nil {
				t.Fatal(err)
			}
		}
		before := ""
		for _, version := range objects(d.Object, "spec", "versions") {
			onDemand := ""
			if !slices.Contains(plain, version["name"].(string)) {
				onDemand = " on demand"
			}
			fmt.Fprintf(&text, " %s%s\n", version["name"], onDemand)
			var tree strings.Builder
			if write(&tree, field(t, version, "schema", "openAPIV3Schema").(map[string]any), 2); tree.String() != before {
				text.WriteString(tree.String())
			}
			before = tree.String()
		}
	}
	if *rewrite {
		if err := os.WriteFile("definitions.txt", []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		definitionsText = text.String()
	}
	if diff := cmp.Diff(text.String(), definitionsText); diff != "" {
		t.Errorf("definitions.txt is not what the CRDs say (-want +got):\n%s", diff)
	}
}

func field(t *testing.T, of map[string]any, path ...string) any {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(of, path...)
	if err != nil || !found {
		t.Fatalf("no %v: %v", path, err)
	}
	return value
}

// write writes the fields below a schema, those of metadata left out. A status is the controller's: what goes there is no loss.
func write(text *strings.Builder, schema map[string]any, depth int) {
	below, _ := schema["properties"].(map[string]any)
	line := func(name string, of map[string]any) {
		for of["type"] == "array" {
			of, _ = of["items"].(map[string]any)
		}
		kept := ""
		if depth == 2 && name == "status" || truth(of, "x-kubernetes-preserve-unknown-fields") || truth(of, "x-kubernetes-embedded-resource") {
			kept = "!"
		}
		fmt.Fprintf(text, "%s%s%s\n", strings.Repeat(" ", depth), name, kept)
		if kept == "" {
			write(text, of, depth+1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		if depth > 2 || name != "apiVersion" && name != "kind" && name != "metadata" {
			line(name, below[name].(map[string]any))
		}
	}
	switch others := schema["additionalProperties"].(type) {
	case map[string]any:
		line("*", others)
	case bool:
		line("*", map[string]any{"x-kubernetes-preserve-unknown-fields": true})
	}
}
