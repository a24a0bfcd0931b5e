// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Webhook describes the webhook of a kind of workload. [CheckWebhook] checks it.
type Webhook struct {
	// New makes a webhook that asks about templates.
	New func(CheckTemplates) AdmissionHandler
	// MutatePath and ValidatePath are those at which it is served.
	MutatePath, ValidatePath string
	// Object is the JSON of a valid workload, whose container runs nginx:1.21,
	// with some more fields in its spec.
	Object func(fields string) string
	// Wrong are such fields that are refused, and Other some that are valid and
	// no part of the template. Default: a negative and a positive number of replicas.
	Wrong, Other string
	// NoClaims is for kinds without claim templates.
	NoClaims bool
	// Request makes a request about a workload in the namespace shop, and the one that is stored.
	Request func(operation admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest
}

// AdmissionHandler is what the webhooks of workloads have.
type AdmissionHandler interface {
	Served
	defaulter
	validator
}

// Served is what all webhooks have.
type Served interface {
	Handlers() map[string]http.Handler
}

type defaulter interface {
	Default(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

type validator interface {
	Validate(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

// Selector is the JSON of the selector of a valid workload.
const Selector = `{"matchLabels":{"app":"demo"}}`

// Template is the JSON of a template that is valid for all kinds, with more in its metadata, its spec and its container.
func Template(meta, spec, container string) string {
	return `{"metadata":{` + meta + `"labels":{"app":"demo"}},"spec":{` + spec +
		`"containers":[{` + container + `"name":"main","image":"nginx:1.21"}],"readinessGates":[{"conditionType":"InPlaceUpdateReady"}]}}`
}

// CheckTemplates is a TemplateChecker.
type CheckTemplates func(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error

// CheckTemplate calls the function.
func (f CheckTemplates) CheckTemplate(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error {
	return f(ctx, namespace, template)
}

// NoVerdict is an API server that does not answer.
func NoVerdict(context.Context, string, *corev1.PodTemplateSpec) error {
	return errors.New("no verdict")
}

// CheckWebhook checks what webhooks of all workloads do the same way. They ask the
// API server about templates that change and say what it says, and serve both paths.
func CheckWebhook(t *testing.T, k Webhook) {
	k.Wrong, k.Other = cmp.Or(k.Wrong, `"replicas":-1`), cmp.Or(k.Other, `"replicas":3`)
	t.Run("verdicts on templates", func(t *testing.T) { checkVerdicts(t, &k) })
	t.Run("templates that change", func(t *testing.T) { checkChanges(t, &k) })
	t.Run("handlers", func(t *testing.T) { checkHandlers(t, &k) })
}

// claims are fields with a claim template, and the path of it; empty for a kind without.
func (k *Webhook) claims() (fields, path string) {
	if k.NoClaims {
		return "", ""
	}
	return `"volumeClaimTemplates":[{"metadata":{"name":"data"}}]`, " spec.volumeClaimTemplates[0]"
}

func checkVerdicts(t *testing.T, k *Webhook) {
	claims, claim := k.claims()
	if k.NoClaims {
		claim = " spec.template.spec.volumes[0]"
	}
	for _, tt := range []struct {
		name     string
		err      error
		want     string
		warnings []string
	}{
		{"valid", nil, "", nil},
		{"invalid", apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "template-check-", field.ErrorList{
			field.Required(field.NewPath("template", "spec", "a"), "why"), field.Invalid(field.NewPath("template", "spec", "volumes").Index(0), "x", "is odd"),
		}), "422 spec.template.spec.a" + claim, nil},
		{"no verdict", context.DeadlineExceeded, "", []string{"spec.template was checked only in part, because the API server gave no verdict on it: the request failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			webhook := k.New(func(context.Context, string, *corev1.PodTemplateSpec) error { return tt.err })
			got := webhook.Validate(t.Context(), k.Request(admissionv1.Create, k.Object(claims), ""))
			if diff := gocmp.Diff(tt.want, Verdict(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(tt.warnings, got.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func checkChanges(t *testing.T, k *Webhook) {
	type change struct {
		name        string
		object, old string
		want        int
	}
	changes := []change{
		{"create", k.Object(""), "", 1},
		{"create, invalid otherwise", k.Object(k.Wrong), "", 0},
		{"update of the template", strings.Replace(k.Object(""), "nginx:1.21", "nginx:1.22", 1), k.Object(""), 1},
		{"update of something else", k.Object(k.Other), k.Object(""), 0},
	}
	if claims, _ := k.claims(); claims != "" {
		changes = append(changes, change{"update of the claim templates", k.Object(claims), k.Object(""), 1})
	}
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			webhook := k.New(func(_ context.Context, namespace string, _ *corev1.PodTemplateSpec) error {
				calls++
				if namespace != "shop" {
					t.Errorf("checked in the namespace %q", namespace)
				}
				return nil
			})
			operation := admissionv1.Update
			if tt.old == "" {
				operation = admissionv1.Create
			}
			webhook.Validate(t.Context(), k.Request(operation, tt.object, tt.old))
			if calls != tt.want {
				t.Errorf("checked %d times, want %d", calls, tt.want)
			}
		})
	}
}

func checkHandlers(t *testing.T, k *Webhook) {
	handlers := k.New(NoVerdict).Handlers()
	if len(handlers) != 2 {
		t.Errorf("%d paths, want 2", len(handlers))
	}
	for path, want := range map[string]string{k.MutatePath: `"patchType":"JSONPatch"`, k.ValidatePath: `"code":422`} {
		body, err := json.Marshal(&admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
			Request:  k.Request(admissionv1.Create, k.Object(k.Wrong), "null"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if handlers[path] == nil {
			t.Fatalf("nothing is served at %s", path)
		}
		post := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
		post.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		handlers[path].ServeHTTP(answer, post)
		if !strings.Contains(answer.Body.String(), want) || !strings.Contains(answer.Body.String(), `"uid":"r1"`) {
			t.Errorf("%s: want %s in the answer to r1, got %s", path, want, answer.Body)
		}
	}
}

// Verdict is a response on one line: the code, then the fields or the message;
// empty if it allows.
func Verdict(r *admissionv1.AdmissionResponse) string {
	if r.Allowed {
		return ""
	}
	text := fmt.Sprint(r.Result.Code)
	if r.Result.Code != http.StatusUnprocessableEntity {
		return text + " " + strings.TrimPrefix(r.Result.Message, "Internal error occurred: ")
	}
	for _, cause := range r.Result.Details.Causes {
		text += " " + cause.Field
	}
	return text
}

// Operations are those that a webhook may be asked about, and one that is none.
var Operations = []admissionv1.Operation{admissionv1.Create, admissionv1.Update, admissionv1.Delete, admissionv1.Connect, ""}

// CheckAnswers is for fuzzing: whatever a webhook is asked, it answers, and
// refuses only with one of the codes.
func CheckAnswers(t *testing.T, webhook AdmissionHandler, r *admissionv1.AdmissionRequest, codes ...int32) {
	t.Helper()
	for name, response := range map[string]*admissionv1.AdmissionResponse{"Default": webhook.Default(t.Context(), r), "Validate": webhook.Validate(t.Context(), r)} {
		if response == nil {
			t.Fatalf("%s: no answer", name)
		}
		if !response.Allowed && (response.Result == nil || !slices.Contains(codes, response.Result.Code)) {
			t.Errorf("%s: refused with %v", name, response.Result)
		}
		if response.Patch != nil && !json.Valid(response.Patch) {
			t.Errorf("%s: the patch is no JSON: %s", name, response.Patch)
		}
	}
}
