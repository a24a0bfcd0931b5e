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

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. With classes=(fast:grows,slow:rigid:9) it can ask
// about storage classes, whose volumes may grow or may not, or of which nothing is said. A class that has an age, in days, is a default class. With
// classes=(unreadable) asking fails. Claim templates have a short form, such as "grow [data 2Gi fast once limit=3Gi]": see shortClaims.
func TestAdmission(t *testing.T) {
	var known *classes
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "StatefulSet", Resource: "statefulsets", Versions: versions, Short: shortClaims,
		New: func(args map[string][]string) conformance.Served {
			known = nil
			if args["classes"] == nil {
				return &statefulset.Webhook{}
			}
			known = newClasses(args["classes"])
			return &statefulset.Webhook{StorageClasses: known}
		},
		Asked: func() string {
			if known == nil || known.asked == nil {
				return ""
			}
			return "\n    asks about " + strings.Join(known.asked, ", ")
		}})
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
				Object:  func(fields string) string { return specWith(version, fields) },
				Request: conformance.Requests(version, "StatefulSet", "statefulsets"),
			})
		})
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
		request := conformance.Requests(version, "StatefulSet", "statefulsets")
		r := request(conformance.Operations[int(operation)%len(conformance.Operations)], string(object), string(old))
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
