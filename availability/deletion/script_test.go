// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/patches"
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

	Version, Group, SubResource, Namespace string // of the request, in place of the usual
	Operation                              admissionv1.Operation
	DryRun                                 *bool
	Metrics                                bool // it is sent to the handlers, and shown what they count

	Resources []string // that may be listed, such as carts.shop.io
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
	return patches.JSON(t, map[string]any{"metadata": meta, "spec": spec})
}

// request asks for the deletion, but for what the script says.
func (g *given) request(t *testing.T, kind schema.GroupKind) *admissionv1.AdmissionRequest {
	t.Helper()
	r := request(kind, g.object(t))
	r.Kind.Version, r.Kind.Group = cmp.Or(g.Version, r.Kind.Version), cmp.Or(g.Group, r.Kind.Group)
	r.Operation = cmp.Or(g.Operation, r.Operation)
	r.SubResource, r.Namespace, r.DryRun = g.SubResource, g.Namespace, g.DryRun
	return r
}

// webhook is one that lists objects and claims.
func (g *given) webhook(objects *cluster, bound *claims) *deletion.Webhook {
	webhook := &deletion.Webhook{List: objects.List, NoDefinitions: g.NoDefinitions, Disabled: g.Disabled}
	if g.NoList {
		webhook.List = nil
	}
	if g.Claims != nil {
		bound.broken, bound.phases = *g.Claims == "broken", *g.Claims
		webhook.Claims = bound.List
	}
	for _, name := range g.Resources {
		webhook.Resources = append(webhook.Resources, schema.ParseGroupResource(name))
	}
	return webhook
}

// rules shows what a webhook may do.
func (g *given) rules() string {
	var out strings.Builder
	for _, rule := range g.webhook(&cluster{}, &claims{}).Rules() {
		fmt.Fprintf(&out, "%q %q of %q\n", rule.Verbs, rule.Resources, rule.APIGroups)
	}
	return cmp.Or(out.String(), "none\n")
}

// ask asks the webhook about an object of a kind, and returns the verdict, what it has listed, and what is counted then.
func (g *given) ask(t *testing.T, kind schema.GroupKind) (verdict string, shown []string) {
	t.Helper()
	objects, bound := &cluster{objects: g.Objects, leaving: g.Leaving, broken: g.Broken}, &claims{}
	webhook, r := g.webhook(objects, bound), g.request(t, kind)
	response, counted := webhook.Validate(t.Context(), r), refused{}
	if g.Metrics {
		objects.asked = nil
		response = post(t, deletion.Counted(webhook.Handlers(), &counted), r)
	}
	if !response.Allowed && response.Result.Code == 403 {
		d := response.Result.Details
		if response.Result.Reason != metav1.StatusReasonForbidden || d == nil || d.Name != "shop" || d.Kind != strings.ToLower(kind.Kind)+"s" {
			t.Errorf("the refusal does not name the object: %+v", response.Result)
		}
	}
	shown = append(objects.asked, bound.asked...)
	if len(shown) > 0 && kind.Kind != "Namespace" && kind.Kind != "CustomResourceDefinition" {
		t.Errorf("DP-3: for a %s it asked the API server: %q", kind.Kind, shown)
	}
	always := &metav1.ObjectMeta{Labels: map[string]string{"policy.kruise.io/delete-protection": "Always"}}
	if d := deletion.Decide(kind, always, new(int32(3))); d != (deletion.Decision{}) && !slices.Contains(deletion.Kinds(), kind) {
		t.Errorf("DP-1: a %s is protected: %+v", kind, d)
	}
	return conformance.Verdict(response), append(shown, counted...)
}

// refused are the refusals that are counted.
type refused []string

func (r *refused) Refused(kind schema.GroupKind, namespace string) {
	*r = append(*r, fmt.Sprintf("counted: %s in %q", kind, namespace))
}

// post sends a request to the handler of its kind.
func post(t *testing.T, handlers map[string]http.Handler, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	review := &admissionv1.AdmissionReview{Request: r}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	path := map[string]string{"Deployment": deletion.DeploymentPath, "Namespace": deletion.NamespacePath}[r.Kind.Kind]
	sent := httptest.NewRequest(http.MethodPost, path, strings.NewReader(patches.JSON(t, review)))
	sent.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	handlers[path].ServeHTTP(answer, sent)
	return patches.Object[admissionv1.AdmissionReview](t, answer.Body.String()).Response
}

// TestDeletions shows in testdata/deletions.txt what comes of deletions, by kind, and what has been listed for them. The verdict is a code and
// a message, and nothing if it is allowed. "rules" shows what a webhook may do.
func TestDeletions(t *testing.T) {
	datadriven.RunTest(t, "testdata/deletions.txt", func(t *testing.T, d *datadriven.TestData) string {
		g := patches.Object[given](t, d.Input)
		if d.Cmd == "rules" {
			return g.rules()
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
