// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"encoding/json"
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
	"github.com/podwright/podwright/workloads/statefulset"
)

// versions are the versions of StatefulSet; a case about what both have is
// asked of both.
var versions = []string{"v1alpha1", "v1beta1"}

// specWith is the JSON of a valid set with some more fields in its spec.
func specWith(version, fields string) string {
	if fields != "" {
		fields += ","
	}
	return `{"apiVersion":"apps.kruise.io/` + version + `","kind":"StatefulSet","metadata":{"name":"demo","namespace":"shop","uid":"u1"},"spec":{` +
		fields + `"selector":` + conformance.Selector + `,"template":` + conformance.Template("", "", "") + `}}`
}

// annotated is a v1alpha1 set that was read through the conversion webhook of a former release, which kept all fields in one annotation.
func annotated(kept string) string {
	quoted, _ := json.Marshal(kept)
	return strings.Replace(specWith("v1alpha1", ""), `"uid"`, `"annotations":{"podwright.github.io/v1beta1-fields":`+string(quoted)+`},"uid"`, 1)
}

func request(version string, op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "r1", Operation: op, Namespace: "shop", Name: "demo",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: version, Kind: "StatefulSet"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: version, Resource: "statefulsets"},
		Object:   runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}
}

const (
	complete = `"replicas":1,"revisionHistoryLimit":10,"podManagementPolicy":"OrderedReady",
		"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1,"podUpdatePolicy":"ReCreate","minReadySeconds":0}}`
	completeRetention = `,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}`
)

func TestWebhookDefault(t *testing.T) {
	const (
		policy    = `{"op":"add","path":"/spec/podManagementPolicy","value":"OrderedReady"},`
		numbers   = `{"op":"add","path":"/spec/replicas","value":1},{"op":"add","path":"/spec/revisionHistoryLimit","value":10},`
		strategy  = `{"op":"add","path":"/spec/updateStrategy","value":{"rollingUpdate":{"maxUnavailable":1,"minReadySeconds":0,"partition":0,"podUpdatePolicy":"ReCreate"},"type":"RollingUpdate"}}`
		retention = `{"op":"add","path":"/spec/persistentVolumeClaimRetentionPolicy","value":{"whenDeleted":"Retain","whenScaled":"Retain"}},`
		alpha     = `[` + policy + numbers + strategy + `]`
		beta      = `[` + retention + policy + numbers + strategy + `]`
	)
	off := statefulset.Webhook{TemplateNoDefaults: true}
	const kept = `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}}}`
	for _, tt := range []struct {
		name    string
		webhook statefulset.Webhook
		request *admissionv1.AdmissionRequest
		want    string
	}{
		{"v1beta1: create", off, request("v1beta1", admissionv1.Create, specWith("v1beta1", ""), ""), beta},
		{"v1beta1: update", statefulset.Webhook{}, request("v1beta1", admissionv1.Update, specWith("v1beta1", ""), specWith("v1beta1", "")), beta},
		{"v1beta1: half a retention policy", off, request("v1beta1", admissionv1.Create, specWith("v1beta1", complete+`,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}`), ""),
			`[{"op":"add","path":"/spec/persistentVolumeClaimRetentionPolicy/whenDeleted","value":"Retain"}]`},
		{"v1beta1: nothing to do", statefulset.Webhook{}, request("v1beta1", admissionv1.Update, specWith("v1beta1", complete+completeRetention), specWith("v1beta1", "")), ``},
		{"v1alpha1: create, without the fields of v1beta1", off, request("v1alpha1", admissionv1.Create, specWith("v1alpha1", ""), ""), alpha},
		{"v1alpha1: update, without the fields of v1beta1", statefulset.Webhook{}, request("v1alpha1", admissionv1.Update, specWith("v1alpha1", ""), specWith("v1alpha1", "")), alpha},
		{"v1alpha1: kept fields stay as they are", off, request("v1alpha1", admissionv1.Update, annotated(kept), annotated(kept)), alpha},
		{"v1alpha1: a broken annotation is not the business of defaults", off, request("v1alpha1", admissionv1.Create, annotated(`[`), ""), alpha},
		{"v1alpha1: nothing to do", statefulset.Webhook{}, request("v1alpha1", admissionv1.Update, specWith("v1alpha1", complete), specWith("v1alpha1", "")), ``},
		{"STS-V9: claims stay unless they are to grow", statefulset.Webhook{Features: statefulset.Features{ResizeClaims: true}}, request("v1beta1", admissionv1.Update, specWith("v1beta1", complete+completeRetention), specWith("v1beta1", "")),
			`[{"op":"add","path":"/spec/volumeClaimUpdateStrategy","value":{"type":"OnDelete"}}]`},
		{"STS-V9: the empty strategy", statefulset.Webhook{Features: statefulset.Features{ResizeClaims: true}},
			request("v1beta1", admissionv1.Update, specWith("v1beta1", complete+completeRetention+`,"volumeClaimUpdateStrategy":{}`), specWith("v1beta1", "")),
			`[{"op":"add","path":"/spec/volumeClaimUpdateStrategy/type","value":"OnDelete"}]`},
		{"STS-V9: a strategy stays", statefulset.Webhook{Features: statefulset.Features{ResizeClaims: true}},
			request("v1beta1", admissionv1.Update, specWith("v1beta1", complete+completeRetention+`,"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}`), specWith("v1beta1", "")), ``},
		{"STS-V9: not in v1alpha1, which has no such field", statefulset.Webhook{Features: statefulset.Features{ResizeClaims: true}}, request("v1alpha1", admissionv1.Update, specWith("v1alpha1", complete), specWith("v1alpha1", "")), ``},
		{"delete", statefulset.Webhook{}, request("v1beta1", admissionv1.Delete, "", specWith("v1beta1", "")), ``},
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
	for _, version := range versions {
		object := strings.Replace(specWith(version, ""), `{"name":"main"`, `{"futureField":{"a":1},"name":"main"`, 1)
		patch := string((&statefulset.Webhook{}).Default(t.Context(), request(version, admissionv1.Create, object, "")).Patch)
		if strings.Contains(patch, "futureField") || !strings.Contains(patch, `/spec/template/spec/containers/0/imagePullPolicy`) {
			t.Errorf("%s: want a patch that adds defaults beside the unknown field, got %s", version, patch)
		}
	}
}

func TestWebhookValidate(t *testing.T) {
	type reviewed func(version string) *admissionv1.AdmissionRequest
	create := func(fields string) reviewed {
		return func(v string) *admissionv1.AdmissionRequest {
			return request(v, admissionv1.Create, specWith(v, fields), "")
		}
	}
	update := func(fields, old string) reviewed {
		return func(v string) *admissionv1.AdmissionRequest {
			return request(v, admissionv1.Update, specWith(v, fields), specWith(v, old))
		}
	}
	remove := func(fields, protection string) reviewed {
		return func(v string) *admissionv1.AdmissionRequest {
			old := strings.Replace(specWith(v, fields), `"uid"`, `"labels":{"policy.kruise.io/delete-protection":"`+protection+`"},"uid"`, 1)
			return request(v, admissionv1.Delete, "", old)
		}
	}
	other := func(change func(*admissionv1.AdmissionRequest)) reviewed {
		return func(v string) *admissionv1.AdmissionRequest {
			r := request(v, admissionv1.Create, `no JSON`, `no JSON`)
			change(r)
			return r
		}
	}
	for _, tt := range []struct {
		name    string
		webhook statefulset.Webhook
		request reviewed
		want    string // code, then fields or message; "" is allowed
	}{
		{"create: valid", statefulset.Webhook{}, create(""), ""},
		{"create: invalid", statefulset.Webhook{}, create(`"replicas":-1,"updateStrategy":{"rollingUpdate":{"minReadySeconds":301}}`),
			"422 spec.replicas spec.updateStrategy.rollingUpdate.minReadySeconds"},
		{"update: valid", statefulset.Webhook{}, update(`"replicas":3`, ""), ""},
		{"update: immutable", statefulset.Webhook{}, update(`"serviceName":"b"`, `"serviceName":"a"`), "422 spec.serviceName"},
		{"delete: not protected", statefulset.Webhook{}, remove(`"replicas":3`, ""), ""},
		{"delete protection: Cascading", statefulset.Webhook{}, remove(`"replicas":3`, "Cascading"),
			"403 forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and replicas 3>0"},
		{"gate ResourcesDeletionProtection off: delete", statefulset.Webhook{DisableDeletionProtection: true}, remove(`"replicas":3`, "Always"), ""},
		{"delete: no old object", statefulset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Operation, r.OldObject.Raw = admissionv1.Delete, nil }), ""},
		{"delete: no JSON", statefulset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Operation, r.OldObject.Raw = admissionv1.Delete, []byte("{") }),
			"400 oldObject: want a StatefulSet as JSON: unexpected end of JSON input"},
		{"create: no JSON", statefulset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Object.Raw = nil }), "400 object: want a StatefulSet as JSON: unexpected end of JSON input"},
		{"update: no JSON before", statefulset.Webhook{}, func(v string) *admissionv1.AdmissionRequest {
			return request(v, admissionv1.Update, specWith(v, ""), "")
		}, "400 oldObject: want a StatefulSet as JSON: unexpected end of JSON input"},
		{"another kind", statefulset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "CloneSet" }), ""},
		{"another group", statefulset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Kind.Group = "apps" }), ""},
		{"a subresource", statefulset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.SubResource = "scale" }), ""},
		{"connect", statefulset.Webhook{}, other(func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Connect }), ""},
	} {
		for _, version := range versions {
			t.Run(version+"/"+tt.name, func(t *testing.T) {
				if diff := cmp.Diff(tt.want, conformance.Verdict(tt.webhook.Validate(t.Context(), tt.request(version)))); diff != "" {
					t.Errorf("verdict (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A v1alpha1 set is judged with the fields of v1beta1 that it keeps.
func TestWebhookValidateKeptFields(t *testing.T) {
	const good, wrong = `{"spec":{"reserveOrdinals":[1]}}`, `{"spec":{"reserveOrdinals":[1,1],"scaleStrategy":{"maxUnavailable":2}}}`
	relabelled := func(object string) string { return strings.Replace(object, `"uid"`, `"labels":{"a":"b"},"uid"`, 1) }
	asked := func(operation admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
		return request("v1alpha1", operation, object, old)
	}
	conformance.CheckVerdicts(t, &statefulset.Webhook{}, asked, []conformance.Judged{
		{"valid", annotated(good), "", ""},
		{"invalid", annotated(wrong), "", "422 spec.reserveOrdinals[1] spec.scaleStrategy.maxUnavailable"},
		{"invalid as before", relabelled(annotated(wrong)), annotated(wrong), ""},
		{"invalid since", annotated(wrong), annotated(good), "422 spec.reserveOrdinals[1] spec.scaleStrategy.maxUnavailable"},
		{"given up", specWith("v1alpha1", ""), annotated(good), ""},
		{"no such field", annotated(`{"spec":{"replicas":1}}`), "",
			"400 object: metadata.annotations[podwright.github.io/v1beta1-fields]: spec.replicas is no field that only v1beta1 has; remove the annotation, or put back what was read"},
		{"a stored one without such a field can be repaired", specWith("v1alpha1", ""), annotated(`{"spec":{"replicas":1}}`), ""},
		{"no version", strings.Replace(specWith("v1alpha1", ""), "apps.kruise.io/v1alpha1", "", 1), "",
			`400 object: apiVersion: a StatefulSet has apps.kruise.io/v1alpha1 and apps.kruise.io/v1beta1, got ""`},
	})
}

// TestWebhookConforms: what webhooks of all workloads do the same way, in every version.
func TestWebhookConforms(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			conformance.CheckWebhook(t, conformance.Webhook{
				New: func(c conformance.CheckTemplates) conformance.AdmissionHandler {
					return &statefulset.Webhook{Templates: c}
				},
				MutatePath: "/mutate-apps-kruise-io-statefulset", ValidatePath: "/validate-apps-kruise-io-statefulset",
				Object: func(fields string) string { return specWith(version, fields) },
				Request: func(operation admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
					return request(version, operation, object, old)
				},
			})
		})
	}
}

// One tenant's StatefulSet must not stop the webhook. Without care a decoder works on such a quantity for hours, and the test
// runs out of time.
func TestWebhookOfExtremeQuantities(t *testing.T) {
	for _, version := range versions {
		for _, quantity := range []string{"1e-100000000", "1e2147483647"} {
			object := strings.Replace(specWith(version, ""), `"image"`, `"resources":{"requests":{"cpu":"`+quantity+`"}},"image"`, 1)
			r := request(version, admissionv1.Update, object, object)
			for name, answer := range map[string]*admissionv1.AdmissionResponse{
				"default":  (&statefulset.Webhook{}).Default(t.Context(), r),
				"validate": (&statefulset.Webhook{}).Validate(t.Context(), r),
			} {
				if !answer.Allowed {
					t.Errorf("%s of %s with %s: %v", name, version, quantity, answer.Result)
				}
			}
		}
	}
}

func FuzzWebhook(f *testing.F) {
	for _, v := range versions {
		f.Add(v, []byte(specWith(v, "")), []byte(specWith(v, `"replicas":3`)), uint8(0))
		f.Add(v, []byte(specWith(v, `"reserveOrdinals":[1,-1],"scaleStrategy":{"maxUnavailable":"1e9%"},"updateStrategy":{"rollingUpdate":{"unorderedUpdate":{"priorityStrategy":{"weightPriority":[{}]}}}}`)),
			[]byte(specWith(v, "")), uint8(1))
		f.Add(v, []byte(strings.Replace(specWith(v, `"volumeClaimTemplates":[{}],"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly"}}`), `"containers"`, `"nodeSelector":{"a":"b"},"containers"`, 1)),
			[]byte(specWith(v, "")), uint8(1))
		f.Add(v, []byte(annotated(`{"spec":{"reserveOrdinals":[1]},"status":{"updatedReadyReplicas":1}}`)), []byte(annotated(`{"spec":null}`)), uint8(1))
		f.Add(v, []byte(annotated(`{"spec":{"lifecycle":{}}}`)), []byte(annotated(`[`)), uint8(1))
		f.Add(v, []byte(`null`), []byte(`[]`), uint8(2))
		f.Add(v, []byte(`{"kind":"StatefulSet","spec":{"template":{"spec":{"overhead":{"cpu":"x"}}}}}`), []byte(``), uint8(0))
	}
	webhook := &statefulset.Webhook{
		Templates: conformance.CheckTemplates(conformance.NoVerdict),
	}
	f.Fuzz(func(t *testing.T, version string, object, old []byte, operation uint8) {
		r := request(version, conformance.Operations[int(operation)%len(conformance.Operations)], string(object), string(old))
		conformance.CheckAnswers(t, webhook, r, 400, 403, 422)
	})
}

func ExampleWebhook() {
	webhook := &statefulset.Webhook{}
	mux := http.NewServeMux()
	for path, handler := range webhook.Handlers() {
		mux.Handle(path, handler)
	}
	fmt.Println(slices.Sorted(maps.Keys(webhook.Handlers())))
	// Output: [/mutate-apps-kruise-io-statefulset /validate-apps-kruise-io-statefulset]
}
