// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/internal/testing/conformance"
)

// given is what a script says of the deletion of an object.
type given struct {
	Kind     string // such as Deployment.apps; empty for all that are protected
	Label    *string
	Deleting bool
	Replicas *int32
	Versions []map[string]any // of a definition; v1 is stored, and v2 is served beside it, by default
	Old      *string          // in place of such an object

	Objects, Leaving int     // pods or custom resources that are there, and how many of them, the first ones, are being deleted
	Broken           int     // which list of them fails, from 1 on
	Claims           *string // a letter for each, as claims reads them, or "broken"; claims count if this is set
	NoList, NoDefinitions,
	Disabled bool

	Version, Group, SubResource string // of the request, in place of the usual
	Operation                   admissionv1.Operation
	DryRun                      *bool
}

// object is the JSON of the object.
func (g *given) object(t *testing.T) string {
	t.Helper()
	if g.Old != nil {
		return *g.Old
	}
	meta := map[string]any{"name": "shop"}
	if g.Label != nil {
		meta["labels"] = map[string]string{"policy.kruise.io/delete-protection": *g.Label}
	}
	if g.Deleting {
		meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	spec := map[string]any{}
	if err := json.Unmarshal([]byte("{"+definitionSpec+"}"), &spec); err != nil {
		t.Fatal(err)
	}
	if g.Replicas != nil {
		spec["replicas"] = *g.Replicas
	}
	if g.Versions != nil {
		spec["versions"] = g.Versions
	}
	data, err := json.Marshal(map[string]any{"metadata": meta, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// request asks for the deletion, but for what the script says.
func (g *given) request(t *testing.T, kind schema.GroupKind) *admissionv1.AdmissionRequest {
	t.Helper()
	r := request(kind, g.object(t))
	r.Kind.Version, r.Kind.Group = cmp.Or(g.Version, r.Kind.Version), cmp.Or(g.Group, r.Kind.Group)
	r.Operation = cmp.Or(g.Operation, r.Operation)
	r.SubResource, r.DryRun = g.SubResource, g.DryRun
	return r
}

// ask asks the webhook about an object of a kind, and returns the verdict and what it has listed.
func (g *given) ask(t *testing.T, kind schema.GroupKind) (verdict string, asked []string) {
	t.Helper()
	objects, bound := &cluster{objects: g.Objects, leaving: g.Leaving, broken: g.Broken}, &claims{}
	webhook := &deletion.Webhook{List: objects.List, NoDefinitions: g.NoDefinitions, Disabled: g.Disabled}
	if g.NoList {
		webhook.List = nil
	}
	if g.Claims != nil {
		bound.broken, bound.phases = *g.Claims == "broken", *g.Claims
		webhook.Claims = bound.List
	}
	response := webhook.Validate(t.Context(), g.request(t, kind))
	if !response.Allowed && response.Result.Code == 403 {
		d := response.Result.Details
		if response.Result.Reason != metav1.StatusReasonForbidden || d == nil || d.Name != "shop" || d.Kind != strings.ToLower(kind.Kind)+"s" {
			t.Errorf("the refusal does not name the object: %+v", response.Result)
		}
	}
	asked = append(objects.asked, bound.asked...)
	if len(asked) > 0 && kind.Kind != "Namespace" && kind.Kind != "CustomResourceDefinition" {
		t.Errorf("DP-3: for a %s it asked the API server: %q", kind.Kind, asked)
	}
	return conformance.Verdict(response), asked
}

// TestDeletions shows in testdata/deletions.txt what comes of deletions, by kind, and what has been listed for them. The verdict is a code and
// a message, and nothing if it is allowed.
func TestDeletions(t *testing.T) {
	datadriven.RunTest(t, "testdata/deletions.txt", func(t *testing.T, d *datadriven.TestData) string {
		var g given
		if err := yaml.UnmarshalStrict([]byte(d.Input), &g); err != nil {
			t.Fatal(err)
		}
		if g.Kind != "" {
			verdict, asked := g.ask(t, schema.ParseGroupKind(g.Kind))
			return strings.Join(append([]string{cmp.Or(verdict, "allowed")}, asked...), "\n") + "\n"
		}
		kinds := map[string][]string{}
		var verdicts []string
		for _, kind := range deletion.Kinds() {
			verdict, _ := g.ask(t, kind)
			if !slices.Contains(verdicts, verdict) {
				verdicts = append(verdicts, verdict)
			}
			kinds[verdict] = append(kinds[verdict], kind.String())
		}
		var out strings.Builder
		for _, verdict := range verdicts {
			fmt.Fprintf(&out, "%s: %s\n", cmp.Or(verdict, "allowed"), strings.Join(kinds[verdict], ", "))
		}
		return out.String()
	})
}
