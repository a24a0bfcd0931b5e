// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// specWith is the JSON of a valid DaemonSet with some more fields in its spec.
func specWith(fields string) string {
	if fields != "" {
		fields += ","
	}
	return `{"metadata":{"name":"demo","namespace":"shop","uid":"u1"},"spec":{` + fields + `"selector":` + conformance.Selector + `,"template":` + conformance.Template("", "", "") + `}}`
}

var request = conformance.Requests("v1alpha1", "DaemonSet", "daemonsets")

// rollingWith is a DaemonSet with these fields in its rollingUpdate.
func rollingWith(fields string) string {
	return specWith(`"updateStrategy":{"rollingUpdate":{` + fields + `}}`)
}

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission.
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{Kind: "DaemonSet", Resource: "daemonsets",
		New: func(map[string][]string) conformance.Served { return &daemonset.Webhook{} }})
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

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (DS-V8)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.DaemonSet]{
		Valid: `
metadata: {namespace: shop, name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: main, image: agent}]}}`,
		Create: daemonset.ValidateCreate, Update: daemonset.ValidateUpdate, Touch: `{"burstReplicas":7}`,
	})
}
