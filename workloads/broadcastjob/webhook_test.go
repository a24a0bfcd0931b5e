// SPDX-License-Identifier: Apache-2.0

package broadcastjob_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const template = `{"metadata":{"labels":{"app":"demo"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"nginx:1.21"}]}}`

// jobWith is the JSON of a valid job with some more fields in its spec.
func jobWith(fields string) string {
	if fields != "" {
		fields += ","
	}
	return `{"metadata":{"name":"demo","namespace":"shop","uid":"u1"},"spec":{` + fields + `"template":` + template + `}}`
}

func request(op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "r1", Operation: op, Namespace: "shop", Name: "demo",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "BroadcastJob"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "broadcastjobs"},
		Object:   runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}
}

func TestWebhookDefault(t *testing.T) {
	const policies = `{"op":"add","path":"/spec/completionPolicy","value":{"type":"Always"}},{"op":"add","path":"/spec/failurePolicy","value":{"type":"FailFast"}},` +
		`{"op":"add","path":"/spec/parallelism","value":2147483647}`
	const complete = `"completionPolicy":{"type":"Never"},"failurePolicy":{"type":"Pause"},"parallelism":"0%"`
	for _, tt := range []struct {
		name    string
		webhook broadcastjob.Webhook
		request *admissionv1.AdmissionRequest
		want    string
	}{
		{"BJ-V1: create", broadcastjob.Webhook{TemplateNoDefaults: true}, request(admissionv1.Create, jobWith(""), ""), `[` + policies + `]`},
		{"BJ-V1: update", broadcastjob.Webhook{}, request(admissionv1.Update, jobWith(""), jobWith("")), `[` + policies + `]`},
		{"BJ-V1: what is set stays", broadcastjob.Webhook{}, request(admissionv1.Update, jobWith(complete), jobWith("")), ``},
		{"delete", broadcastjob.Webhook{}, request(admissionv1.Delete, "", jobWith("")), ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.webhook.Default(t.Context(), tt.request)
			if !got.Allowed {
				t.Fatalf("refused: %v", got.Result)
			}
			if diff := cmp.Diff(tt.want, string(got.Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

// BJ-V1: templates get the defaults of the API server.
func TestDefaultOfTemplate(t *testing.T) {
	conformance.CheckTemplateDefaults(t, func(job, old *v1alpha1.BroadcastJob, off bool) {
		broadcastjob.Default(job, old, broadcastjob.DefaultOptions{TemplateNoDefaults: off})
	})
}

func TestWebhookValidate(t *testing.T) {
	named := func(name string) string { return strings.Replace(jobWith(""), `"name":"demo"`, `"name":"`+name+`"`, 1) }
	policy := func(p string) string { return strings.Replace(jobWith(""), `"restartPolicy":"Never"`, p, 1) }
	labelled := func(label string) string { return strings.Replace(jobWith(""), `"app":"demo"`, label, 1) }
	conformance.CheckVerdicts(t, &broadcastjob.Webhook{}, request, []conformance.Judged{
		{"BJ-V2: the least", jobWith(""), "", ""},
		{"BJ-V2: everything", jobWith(`"parallelism":"10%","paused":true,"completionPolicy":{"type":"Always","activeDeadlineSeconds":1,"ttlSecondsAfterFinished":0},"failurePolicy":{"type":"Continue","restartLimit":3}`), "", ""},
		{"BJ-V2: other types are not refused", jobWith(`"completionPolicy":{"type":"Sometimes"},"failurePolicy":{"type":"Hope"}`), "", ""},
		{"BJ-V2: less than nothing", jobWith(`"completionPolicy":{"activeDeadlineSeconds":-1,"ttlSecondsAfterFinished":-1},"failurePolicy":{"restartLimit":-1}`), "",
			"422 spec.completionPolicy.activeDeadlineSeconds spec.completionPolicy.ttlSecondsAfterFinished spec.failurePolicy.restartLimit"},
		{"BJ-V2: a name with a dot", named("a.b"), "", "422 metadata.name"},
		{"BJ-V2: a long name", named(strings.Repeat("a", 64)), "", "422 metadata.name"},
		{"BJ-V2: a name that is long enough", named(strings.Repeat("a", 63)), "", ""},
		{"BJ-V2: restartPolicy OnFailure", policy(`"restartPolicy":"OnFailure"`), "", ""},
		{"BJ-V2: restartPolicy Always", policy(`"restartPolicy":"Always"`), "", "422 spec.template.spec.restartPolicy"},
		{"BJ-V2: no restartPolicy", policy(`"nodeName":""`), "", "422 spec.template.spec.restartPolicy"},
		{"BJ-V2: a label of the controller's", labelled(`"broadcastjob-name":"x"`), "", "422 spec.template.metadata.labels[broadcastjob-name]"},
		{"BJ-V2: the other label", labelled(`"broadcastjob-controller-uid":"x"`), "", "422 spec.template.metadata.labels[broadcastjob-controller-uid]"},
		{"BJ-V2: an empty label", labelled(`"broadcastjob-name":""`), "", ""},
		{"BJ-V2: Never with a deadline and a TTL", jobWith(`"completionPolicy":{"type":"Never","activeDeadlineSeconds":1,"ttlSecondsAfterFinished":1}`), "",
			"422 spec.completionPolicy.activeDeadlineSeconds spec.completionPolicy.ttlSecondsAfterFinished"},
		{"BJ-V2: Never with Pause", jobWith(`"completionPolicy":{"type":"Never"},"failurePolicy":{"type":"Pause"}`), "", ""},
		{"BJ-V2: activeDeadlineSeconds of a pod", policy(`"restartPolicy":"Never","activeDeadlineSeconds":5`), "", ""},
		{"BJ-V2: no container", strings.Replace(jobWith(""), `{"name":"main","image":"nginx:1.21"}`, ``, 1), "", "422 spec.template.spec.containers"},
		{"BJ-V2: every field may change", policy(`"restartPolicy":"OnFailure"`), jobWith(`"paused":true`), ""},
		{"BJ-V2: what is stored is not judged again", policy(`"restartPolicy":"Always"`), policy(`"restartPolicy":"Always"`), ""},
		{"BJ-V2: nor is a template that stays", strings.Replace(policy(`"restartPolicy":"Always"`), `"template"`, `"paused":true,"template"`, 1), policy(`"restartPolicy":"Always"`), ""},
		{"BJ-V2: a change that is wrong", jobWith(`"completionPolicy":{"type":"Never","ttlSecondsAfterFinished":1}`), jobWith(""), "422 spec.completionPolicy.ttlSecondsAfterFinished"},
		{"no JSON", "{", "", "400 object: want a BroadcastJob as JSON: unexpected end of JSON input"},
	})
}

// BJ-V2: the API server judges templates that are new or change, and jobs are let through if it cannot.
func TestWebhookConforms(t *testing.T) {
	conformance.CheckWebhook(t, conformance.Webhook{
		New: func(c conformance.CheckTemplates) conformance.AdmissionHandler {
			return &broadcastjob.Webhook{Templates: c}
		},
		MutatePath: broadcastjob.MutatePath, ValidatePath: broadcastjob.ValidatePath,
		Object: jobWith, Wrong: `"completionPolicy":{"type":"Never","ttlSecondsAfterFinished":1}`, Other: `"paused":true`, NoClaims: true, Request: request,
	})
	if rules := (&broadcastjob.Webhook{}).Rules(); rules != nil {
		t.Errorf("without Templates it needs %v", rules)
	}
}

func FuzzWebhook(f *testing.F) {
	f.Add([]byte(jobWith("")), []byte(jobWith(`"paused":true`)), uint8(0))
	f.Add([]byte(jobWith(`"completionPolicy":{"type":"Never","ttlSecondsAfterFinished":-1},"parallelism":"1e9%"`)), []byte(jobWith("")), uint8(1))
	f.Add([]byte(`null`), []byte(`[]`), uint8(2))
	f.Add([]byte(`{"spec":{"template":{"spec":{"overhead":{"cpu":"x"}}}}}`), []byte(``), uint8(0))
	webhook := &broadcastjob.Webhook{Templates: conformance.CheckTemplates(conformance.NoVerdict)}
	f.Fuzz(func(t *testing.T, object, old []byte, operation uint8) {
		r := request(conformance.Operations[int(operation)%len(conformance.Operations)], string(object), string(old))
		conformance.CheckAnswers(t, webhook, r, 400, 422, 500)
	})
}

func ExampleWebhook() {
	webhook := &broadcastjob.Webhook{}
	mux := http.NewServeMux()
	for path, handler := range webhook.Handlers() {
		mux.Handle(path, handler)
	}
	fmt.Println(slices.Sorted(maps.Keys(webhook.Handlers())))
	// Output: [/mutate-apps-kruise-io-v1alpha1-broadcastjob /validate-apps-kruise-io-v1alpha1-broadcastjob]
}
