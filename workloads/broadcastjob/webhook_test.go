// SPDX-License-Identifier: Apache-2.0

package broadcastjob_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// jobWith is the JSON of a valid job with some more fields in its spec.
func jobWith(fields string) string {
	if fields != "" {
		fields += ","
	}
	return `{"metadata":{"name":"demo","namespace":"shop","uid":"u1"},"spec":{` + fields + `"template":` + conformance.Template("", `"restartPolicy":"Never",`, "") + `}}`
}

var request = conformance.Requests("v1alpha1", "BroadcastJob", "broadcastjobs")

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission.
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "BroadcastJob", Resource: "broadcastjobs", Object: jobWith(""),
		New: func(map[string][]string) conformance.Served { return &broadcastjob.Webhook{} }})
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

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (BJ-V8)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.BroadcastJob]{
		Valid: `
metadata: {namespace: shop, name: prune}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: prune}]}}`,
		Create: broadcastjob.ValidateCreate, Update: broadcastjob.ValidateUpdate, Touch: `{"paused":true}`,
	})
}
