// SPDX-License-Identifier: Apache-2.0

package daemonset_test

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
	"github.com/podwright/podwright/workloads/daemonset"
)

// specWith is the JSON of a valid DaemonSet with some more fields in its spec.
func specWith(fields string) string {
	if fields != "" {
		fields += ","
	}
	return `{"metadata":{"name":"demo","namespace":"shop","uid":"u1"},"spec":{` + fields + `"selector":` + conformance.Selector + `,"template":` + conformance.Template("", "", "") + `}}`
}

func request(op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "r1", Operation: op, Namespace: "shop", Name: "demo",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "DaemonSet"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "daemonsets"},
		Object:   runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}
}

// rollingWith is a DaemonSet with these fields in its rollingUpdate.
func rollingWith(fields string) string {
	return specWith(`"updateStrategy":{"rollingUpdate":{` + fields + `}}`)
}

func TestWebhookDefault(t *testing.T) {
	const numbers = `{"op":"add","path":"/spec/burstReplicas","value":250},{"op":"add","path":"/spec/revisionHistoryLimit","value":10},`
	strategy := func(rolling string) string {
		return `[` + numbers + `{"op":"add","path":"/spec/updateStrategy","value":{"rollingUpdate":` + rolling + `,"type":"RollingUpdate"}}]`
	}
	const at = "/spec/updateStrategy/rollingUpdate/"
	added := func(name, value string) string {
		return fmt.Sprintf(`{"op":"add","path":"%s%s","value":%s},`, at, name, value)
	}
	const typed = `{"op":"add","path":"/spec/updateStrategy/type","value":"RollingUpdate"}`
	for _, tt := range []struct{ name, object, old, want string }{
		{"DS-V1: create", specWith(""), "", strategy(`{"maxSurge":0,"maxUnavailable":1,"rollingUpdateType":"Standard"}`)},
		{"DS-V1: update", specWith(""), specWith(""), strategy(`{"maxSurge":0,"maxUnavailable":1,"rollingUpdateType":"Standard"}`)},
		{"DS-V1: maxSurge alone", rollingWith(`"maxSurge":1`), "", `[` + numbers + added("rollingUpdateType", `"Standard"`) + typed + `]`},
		{"DS-V1: maxSurge 0 alone", rollingWith(`"maxSurge":0`), "", `[` + numbers + added("maxUnavailable", "1") + added("rollingUpdateType", `"Standard"`) + typed + `]`},
		{"DS-V1: Surging", rollingWith(`"rollingUpdateType":"Surging"`), "", `[` + numbers + added("maxSurge", "1") + added("maxUnavailable", "0") +
			fmt.Sprintf(`{"op":"replace","path":"%srollingUpdateType","value":"Standard"},`, at) + typed + `]`},
		{"DS-V1: OnDelete", specWith(`"burstReplicas":1,"revisionHistoryLimit":1,"updateStrategy":{"type":"OnDelete"}`), "", ``},
		{"delete", "", specWith(""), ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			operation := admissionv1.Create
			switch {
			case tt.object == "":
				operation = admissionv1.Delete
			case tt.old != "":
				operation = admissionv1.Update
			}
			got := (&daemonset.Webhook{}).Default(t.Context(), request(operation, tt.object, tt.old))
			if !got.Allowed {
				t.Fatalf("refused: %v", got.Result)
			}
			if diff := cmp.Diff(tt.want, string(got.Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWebhookValidate(t *testing.T) {
	const ru = "422 spec.updateStrategy.rollingUpdate."
	template := func(spec string) string {
		return `{"metadata":{"name":"demo"},"spec":{"selector":` + conformance.Selector + `,"template":` + conformance.Template("", spec, "") + `}}`
	}
	selecting := func(selector string) string { return strings.Replace(specWith(""), conformance.Selector, selector, 1) }
	conformance.CheckVerdicts(t, &daemonset.Webhook{}, request, []conformance.Judged{
		{"DS-V2: the least", specWith(""), "", ""},
		{"DS-V2: everything", specWith(`"minReadySeconds":1,"burstReplicas":"10%","revisionHistoryLimit":0,"lifecycle":{"preDelete":{"labelsHandler":{"a":"b"}},"preNormal":{}},
			"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"rollingUpdateType":"InPlaceIfPossible","maxUnavailable":"10%","selector":{"matchLabels":{"a":"b"}},"partition":3,"paused":true}}`), "", ""},
		{"DS-V2: no selector", selecting("null"), "", "422 spec.selector"},
		{"DS-V2: an empty selector", selecting("{}"), "", "422 spec.selector"},
		{"DS-V2: a selector that does not match", selecting(`{"matchLabels":{"app":"db"}}`), "", "422 spec.template.metadata.labels"},
		{"DS-V2: the selector may change", strings.Replace(specWith(""), conformance.Selector, `{"matchExpressions":[{"key":"app","operator":"Exists"}]}`, 1), specWith(""), ""},
		{"DS-V2: burstReplicas that is no number", specWith(`"burstReplicas":"abc"`), "", "422 spec.burstReplicas"},
		{"DS-V2: burstReplicas below 0", specWith(`"burstReplicas":-1`), "", "422 spec.burstReplicas"},
		{"DS-V2: burstReplicas above 100%", specWith(`"burstReplicas":"101%"`), "", "422 spec.burstReplicas"},
		{"DS-V2: burstReplicas 0 is one", specWith(`"burstReplicas":0`), "", ""},
		{"DS-V2: negative numbers", specWith(`"minReadySeconds":-1,"revisionHistoryLimit":-1`), "", "422 spec.minReadySeconds spec.revisionHistoryLimit"},
		{"DS-V2: the hook of another kind", specWith(`"lifecycle":{"inPlaceUpdate":{}}`), "", "422 spec.lifecycle.inPlaceUpdate"},
		{"DS-V2: another type", specWith(`"updateStrategy":{"type":"Recreate"}`), "", "422 spec.updateStrategy.type"},
		{"DS-V2: OnDelete needs no sense in the rest", specWith(`"updateStrategy":{"type":"OnDelete","rollingUpdate":{"maxUnavailable":0}}`), "", ""},
		{"DS-V2: another rolling type", rollingWith(`"rollingUpdateType":"InPlaceOnly"`), "", ru + "rollingUpdateType"},
		{"DS-V2: a negative partition", rollingWith(`"partition":-1`), "", ru + "partition"},
		{"DS-V3: a percentage", rollingWith(`"partition":"50%"`), "", ""},
		{"DS-V3: what is none", rollingWith(`"partition":"101%"`), "", ru + "partition"},
		{"DS-V3: an update that changes it", rollingWith(`"partition":"few"`), rollingWith(`"partition":"50%"`), ru + "partition"},
		{"DS-V3: an update that leaves it", rollingWith(`"partition":"few"`), rollingWith(`"partition":"few"`), ""},
		{"DS-V2: a selector of nodes", rollingWith(`"selector":{"matchLabels":{"a":"not valid"}}`), "", ru + "selector.matchLabels"},
		{"DS-V2: maxUnavailable 100%", rollingWith(`"maxUnavailable":"100%"`), "", ""},
		{"DS-V2: maxUnavailable 101%", rollingWith(`"maxUnavailable":"101%"`), "", ru + "maxUnavailable"},
		{"DS-V2: maxUnavailable without %", rollingWith(`"maxUnavailable":"5"`), "", ru + "maxUnavailable"},
		{"DS-V2: negative limits", rollingWith(`"maxUnavailable":-1,"maxSurge":-1`), "", ru + "maxUnavailable spec.updateStrategy.rollingUpdate.maxSurge"},
		{"DS-V2: both 0", rollingWith(`"maxUnavailable":0,"maxSurge":0`), "", ru + "maxUnavailable"},
		{"DS-V2: both 0%", rollingWith(`"maxUnavailable":"0%","maxSurge":"0%"`), "", ru + "maxUnavailable"},
		{"DS-V2: maxUnavailable 0 alone", rollingWith(`"maxUnavailable":0`), "", ru + "maxUnavailable"},
		{"DS-V2: maxSurge 0 alone", rollingWith(`"maxSurge":0`), "", ""},
		{"DS-V2: maxSurge alone", rollingWith(`"maxSurge":1`), "", ""},
		{"DS-V2: both", rollingWith(`"maxUnavailable":1,"maxSurge":1`), "", ru + "maxSurge"},
		{"DS-V2: in place with a surge", rollingWith(`"rollingUpdateType":"InPlaceIfPossible","maxSurge":1,"maxUnavailable":0`), "", ru + "maxSurge"},
		{"DS-V2: Surging", rollingWith(`"rollingUpdateType":"Surging"`), "", ""},
		{"DS-V2: Surging with maxUnavailable", rollingWith(`"rollingUpdateType":"Surging","maxUnavailable":1`), "", ru + "maxSurge"},
		{"DS-V2: restartPolicy", template(`"restartPolicy":"OnFailure",`), "", "422 spec.template.spec.restartPolicy"},
		{"DS-V2: activeDeadlineSeconds", template(`"activeDeadlineSeconds":1,`), "", "422 spec.template.spec.activeDeadlineSeconds"},
		{"DS-V2: a disk that cannot be shared", template(`"volumes":[{"name":"a","gcePersistentDisk":{"pdName":"a"}}],`), "", "422 spec.template.spec.volumes[0].gcePersistentDisk.readOnly"},
		{"DS-V2: a disk that can", template(`"volumes":[{"name":"a","gcePersistentDisk":{"pdName":"a","readOnly":true}}],`), "", ""},
		{"DS-V2: a stored spec is not judged again", rollingWith(`"partition":-1`), rollingWith(`"partition":-1`), ""},
		{"DS-V2: nor a template that stays", strings.Replace(template(`"activeDeadlineSeconds":1,`), `"template"`, `"minReadySeconds":1,"template"`, 1), template(`"activeDeadlineSeconds":1,`), ""},
		{"DS-V2: a changed template is", template(`"activeDeadlineSeconds":1,`), specWith(""), "422 spec.template.spec.activeDeadlineSeconds"},
		{"no JSON", "{", "", "400 object: want a DaemonSet as JSON: unexpected end of JSON input"},
	})
}

// DS-V2: the API server judges templates that are new or change, and DaemonSets are let through if it cannot.
func TestWebhookConforms(t *testing.T) {
	conformance.CheckWebhook(t, conformance.Webhook{
		New: func(c conformance.CheckTemplates) conformance.AdmissionHandler {
			return &daemonset.Webhook{Templates: c}
		},
		MutatePath: daemonset.MutatePath, ValidatePath: daemonset.ValidatePath,
		Object: specWith, Wrong: `"minReadySeconds":-1`, Other: `"minReadySeconds":1`, NoClaims: true, Request: request,
	})
	if rules := (&daemonset.Webhook{}).Rules(); rules != nil {
		t.Errorf("without Templates it needs %v", rules)
	}
}

func FuzzWebhook(f *testing.F) {
	f.Add([]byte(specWith("")), []byte(rollingWith(`"maxSurge":"1%"`)), uint8(0))
	f.Add([]byte(rollingWith(`"maxUnavailable":"1e9%","rollingUpdateType":"Surging"`)), []byte(specWith("")), uint8(1))
	f.Add([]byte(`null`), []byte(`[]`), uint8(2))
	f.Add([]byte(`{"spec":{"template":{"spec":{"overhead":{"cpu":"x"}}}}}`), []byte(``), uint8(0))
	webhook := &daemonset.Webhook{Templates: conformance.CheckTemplates(conformance.NoVerdict)}
	f.Fuzz(func(t *testing.T, object, old []byte, operation uint8) {
		r := request(conformance.Operations[int(operation)%len(conformance.Operations)], string(object), string(old))
		conformance.CheckAnswers(t, webhook, r, 400, 422, 500)
	})
}

func ExampleWebhook() {
	webhook := &daemonset.Webhook{}
	mux := http.NewServeMux()
	for path, handler := range webhook.Handlers() {
		mux.Handle(path, handler)
	}
	fmt.Println(slices.Sorted(maps.Keys(webhook.Handlers())))
	// Output: [/mutate-apps-kruise-io-v1alpha1-daemonset /validate-apps-kruise-io-v1alpha1-daemonset]
}
