// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// judgements are what the API server says of a template, by the argument templates of a script.
var judgements = map[string]error{
	"valid":  nil,
	"silent": context.DeadlineExceeded,
	"invalid": apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "template-check-", field.ErrorList{
		field.Required(field.NewPath("template", "spec", "a"), "why"), field.Invalid(field.NewPath("template", "spec", "volumes").Index(0), "x", "is odd"),
	}),
}

// CheckWebhook checks, by the scripts in testdata/webhooks and testdata/claims, what webhooks of all workloads do the same way. They ask
// the API server about templates that change, say what it says, and are served at both paths.
func CheckWebhook(t *testing.T, k Webhook) {
	about, asked := k.Request(admissionv1.Create, "", ""), ""
	paths := slices.Sorted(maps.Keys(k.New(NoVerdict).Handlers()))
	if diff := gocmp.Diff([]string{k.MutatePath, k.ValidatePath}, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	kind := Admission{
		Kind: about.Kind.Kind, Resource: about.Resource.Resource, Versions: []string{about.Kind.Version}, Object: k.Object(""),
		Short: strings.NewReplacer("WRONG", cmp.Or(k.Wrong, `"replicas":-1`), "OTHER", cmp.Or(k.Other, `"replicas":3`)).Replace,
		New: func(args map[string][]string) Served {
			asked = ""
			return k.New(func(_ context.Context, namespace string, _ *corev1.PodTemplateSpec) error {
				asked += "\n    asks about a template in " + namespace
				return judgements[args["templates"][0]]
			})
		},
		Asked: func() string { return asked },
		shown: func(answer string) string {
			if code, _, refused := strings.Cut(answer, "\n"); refused && asked == "" {
				return code // what is wrong depends on the kind
			}
			return answer
		},
	}
	PlayAdmission(t, "../../internal/testing/conformance/testdata/webhooks", kind)
	if !k.NoClaims {
		PlayAdmission(t, "../../internal/testing/conformance/testdata/claims", kind)
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

// Requests returns what makes requests about the object demo in the namespace shop, of a kind of apps.kruise.io in a version.
func Requests(version, kind, resource string) func(op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
	return func(op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
		return &admissionv1.AdmissionRequest{
			UID: "r1", Operation: op, Namespace: "shop", Name: "demo",
			Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: version, Kind: kind},
			Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: version, Resource: resource},
			Object:   runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
		}
	}
}
