// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

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

var request = conformance.Requests("v1alpha1", "CloneSet", "clonesets")

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. With pods=known it can look up those of demoPods.
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{Kind: "CloneSet", Resource: "clonesets",
		New: func(args map[string][]string) conformance.Served {
			if args["pods"] != nil {
				return &cloneset.Webhook{Pods: demoPods}
			}
			return &cloneset.Webhook{}
		}})
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
