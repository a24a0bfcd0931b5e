// SPDX-License-Identifier: Apache-2.0

package cloneset_test

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
	"github.com/podwright/podwright/workloads/cloneset"
)

// specWith is the JSON of a valid set with some more fields in its spec.
func specWith(fields string) string {
	if fields != "" {
		fields += ","
	}
	return `{"metadata":{"name":"demo","namespace":"shop","uid":"u1"},"spec":{` + fields + `"selector":` + conformance.Selector + `,"template":` + conformance.Template("", "", "") + `}}`
}

func request(op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "r1", Operation: op, Namespace: "shop", Name: "demo",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"},
		Object:   runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}
}

func TestWebhookDefault(t *testing.T) {
	const strategy = `{"op":"add","path":"/spec/updateStrategy","value":{"maxSurge":0,"maxUnavailable":"20%","partition":0,"type":"ReCreate"}}`
	const numbers = `{"op":"add","path":"/spec/replicas","value":1},{"op":"add","path":"/spec/revisionHistoryLimit","value":10},`
	const complete = `"replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"type":"ReCreate","partition":0,"maxUnavailable":"20%","maxSurge":0}`
	unknown := strings.Replace(specWith(complete), `"containers"`, `"futureField":{"a":1},"containers"`, 1)
	for _, tt := range []struct {
		name    string
		webhook cloneset.Webhook
		request *admissionv1.AdmissionRequest
		want    string
	}{
		{"create", cloneset.Webhook{TemplateNoDefaults: true}, request(admissionv1.Create, specWith(""), ""), `[` + numbers + strategy + `]`},
		{"update", cloneset.Webhook{}, request(admissionv1.Update, specWith(""), specWith("")), `[` + numbers + strategy + `]`},
		{"nothing to do", cloneset.Webhook{}, request(admissionv1.Update, specWith(complete), specWith("")), ``},
		{"CS-E19: an unknown template field survives and is no change", cloneset.Webhook{}, request(admissionv1.Update, unknown, specWith(complete)), ``},
		{"delete", cloneset.Webhook{}, request(admissionv1.Delete, "", specWith("")), ``},
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

func TestWebhookDefaultOfUnknownFields(t *testing.T) {
	object := strings.Replace(specWith(""), `{"name":"main"`, `{"futureField":{"a":1},"name":"main"`, 1)
	patch := string((&cloneset.Webhook{}).Default(t.Context(), request(admissionv1.Create, object, "")).Patch)
	if strings.Contains(patch, "futureField") || !strings.Contains(patch, `/spec/template/spec/containers/0/imagePullPolicy`) {
		t.Errorf("want a patch that adds defaults beside the unknown field, got %s", patch)
	}
}

func TestWebhookValidate(t *testing.T) {
	protected := strings.Replace(specWith(`"replicas":3`), `"uid"`, `"labels":{"policy.kruise.io/delete-protection":"Cascading"},"uid"`, 1)
	other := func(change func(*admissionv1.AdmissionRequest)) *admissionv1.AdmissionRequest {
		r := request(admissionv1.Create, `no JSON`, `no JSON`)
		change(r)
		return r
	}
	pods := cloneset.Webhook{Pods: demoPods}
	for _, tt := range []struct {
		name    string
		webhook cloneset.Webhook
		request *admissionv1.AdmissionRequest
		want    string // code, then fields or message; "" is allowed
	}{
		{"create: valid", cloneset.Webhook{}, request(admissionv1.Create, specWith(""), ""), ""},
		{"create: invalid", cloneset.Webhook{}, request(admissionv1.Create, specWith(`"replicas":-1,"updateStrategy":{"partition":"50"}`), ""),
			"422 spec.replicas spec.updateStrategy.partition"},
		{"create: podsToDelete", pods, request(admissionv1.Create, specWith(`"scaleStrategy":{"podsToDelete":["gone"]}`), ""), "422 spec.scaleStrategy.podsToDelete[0]"},
		{"update: valid", cloneset.Webhook{}, request(admissionv1.Update, specWith(`"replicas":3`), specWith("")), ""},
		{"update: selector", cloneset.Webhook{}, request(admissionv1.Update, strings.Replace(specWith(""), `"app":"demo"`, `"app":"other"`, 2), specWith("")), "422 spec.selector"},
		{"update: podsToDelete of this set", pods, request(admissionv1.Update, specWith(`"scaleStrategy":{"podsToDelete":["mine"]}`), specWith("")), ""},
		{"CS-E9: update: podsToDelete of nobody", pods, request(admissionv1.Update, specWith(`"scaleStrategy":{"podsToDelete":["gone"]}`), specWith("")), "422 spec.scaleStrategy.podsToDelete[0]"},
		{"update: podsToDelete without lookup", cloneset.Webhook{}, request(admissionv1.Update, specWith(`"scaleStrategy":{"podsToDelete":["gone"]}`), specWith("")), ""},
		{"update: podsToDelete with a broken lookup", pods, request(admissionv1.Update, specWith(`"scaleStrategy":{"podsToDelete":["broken"]}`), specWith("")),
			"500 spec.scaleStrategy.podsToDelete[0]: look up pod shop/broken: no connection"},
		{"delete: not protected", cloneset.Webhook{}, request(admissionv1.Delete, "", specWith("")), ""},
		{"DP-5: delete: protected", cloneset.Webhook{}, request(admissionv1.Delete, "", protected),
			"403 forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and replicas 3>0"},
		{"gate off: delete", cloneset.Webhook{DisableDeletionProtection: true}, request(admissionv1.Delete, "", protected), ""},
		{"DP-2: delete: no old object", cloneset.Webhook{}, request(admissionv1.Delete, "", ""), ""},
		{"DP-2: delete: no JSON", cloneset.Webhook{}, request(admissionv1.Delete, "", "{"), "400 oldObject: want a CloneSet as JSON: unexpected end of JSON input"},
		{"DP-2: delete: subresource", cloneset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Operation, r.SubResource = admissionv1.Delete, "status" }), ""},
		{"create: no JSON", cloneset.Webhook{}, request(admissionv1.Create, "", ""), "400 object: want a CloneSet as JSON: unexpected end of JSON input"},
		{"update: no JSON before", cloneset.Webhook{}, request(admissionv1.Update, specWith(""), ""), "400 oldObject: want a CloneSet as JSON: unexpected end of JSON input"},
		{"another kind", cloneset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "Pod" }), ""},
		{"another group", cloneset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Kind.Group = "apps" }), ""},
		{"a subresource", cloneset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.SubResource = "scale" }), ""},
		{"connect", cloneset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Connect }), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, conformance.Verdict(tt.webhook.Validate(t.Context(), tt.request))); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWebhookConforms: what webhooks of all workloads do the same way.
func TestWebhookConforms(t *testing.T) {
	conformance.CheckWebhook(t, conformance.Webhook{
		New: func(c conformance.CheckTemplates) conformance.AdmissionHandler {
			return &cloneset.Webhook{Templates: c}
		},
		MutatePath: "/mutate-apps-kruise-io-v1alpha1-cloneset", ValidatePath: "/validate-apps-kruise-io-v1alpha1-cloneset",
		Object: specWith, Request: request,
	})
}

func FuzzWebhook(f *testing.F) {
	f.Add([]byte(specWith("")), []byte(specWith(`"replicas":3`)), uint8(0))
	f.Add([]byte(specWith(`"updateStrategy":{"type":"InPlaceOnly","partition":"1e9%","priorityStrategy":{"weightPriority":[{}]}}`)), []byte(specWith("")), uint8(1))
	f.Add([]byte(strings.Replace(specWith(`"volumeClaimTemplates":[{}]`), `"containers"`, `"nodeSelector":{"a":"b"},"containers"`, 1)), []byte(specWith("")), uint8(1))
	f.Add([]byte(`{"spec":{"selector":{},"template":{"spec":{"containers":[{}]}}}}`), []byte(`{"spec":null}`), uint8(1))
	f.Add([]byte(`null`), []byte(`[]`), uint8(2))
	f.Add([]byte(`{"spec":{"template":{"spec":{"overhead":{"cpu":"x"}}}}}`), []byte(``), uint8(0))
	webhook := &cloneset.Webhook{
		Pods:      demoPods,
		Templates: conformance.CheckTemplates(conformance.NoVerdict),
	}
	f.Fuzz(func(t *testing.T, object, old []byte, operation uint8) {
		r := request(conformance.Operations[int(operation)%len(conformance.Operations)], string(object), string(old))
		conformance.CheckAnswers(t, webhook, r, 400, 403, 422, 500)
	})
}

func ExampleWebhook() {
	webhook := &cloneset.Webhook{}
	mux := http.NewServeMux()
	for path, handler := range webhook.Handlers() {
		mux.Handle(path, handler)
	}
	fmt.Println(slices.Sorted(maps.Keys(webhook.Handlers())))
	// Output: [/mutate-apps-kruise-io-v1alpha1-cloneset /validate-apps-kruise-io-v1alpha1-cloneset]
}
