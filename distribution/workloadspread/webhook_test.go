// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// TestWebhook is about what is refused, and how. (WS-21, WS-22)
func TestWebhook(t *testing.T) {
	const subsets = "subsets: [{name: a}]"
	others := fake.NewClient(newSpread(t, "web", subsets))
	renamed := newSpread(t, "other", subsets)
	renamed.Spec.TargetReference.Name = "web"
	wrong := newSpread(t, "wrong", "subsets: [{name: a}, {name: a}]")
	finalized := wrong.DeepCopy()
	finalized.Finalizers = []string{"example.com/f"}
	for _, test := range []struct {
		name    string
		webhook Webhook
		ws, old *v1alpha1.WorkloadSpread
		want    string
	}{
		{"a valid one", Webhook{Distribution: others}, newSpread(t, "db", subsets), nil, ""},
		{"itself", Webhook{Distribution: others}, newSpread(t, "web", "subsets: [{name: b}]"), newSpread(t, "web", subsets), ""},
		{"an invalid one", Webhook{}, wrong, nil, `400 WorkloadSpread.apps.kruise.io "wrong" is invalid: spec.subsets[1].name: Duplicate value: "a"`},
		{"one that was invalid before", Webhook{}, finalized, wrong, ""},
		{"the same target", Webhook{Distribution: others}, renamed, nil, `400 WorkloadSpread.apps.kruise.io "other" is invalid: spec.targetRef: Forbidden: is in conflict with other WorkloadSpread web`},
		{"the same target, and nobody knows", Webhook{}, renamed, nil, ""},
		{"another target", Webhook{}, newSpread(t, "db", subsets), renamed, `400 WorkloadSpread.apps.kruise.io "db" is invalid: spec.targetRef: Forbidden: group, kind and name cannot be modified`},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := &admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Namespace: "default", Name: test.ws.Name,
				Kind:   metav1.GroupVersionKind{Group: v1alpha1.GroupName, Version: "v1alpha1", Kind: kind},
				Object: raw(t, test.ws)}
			if test.old != nil {
				request.Operation, request.OldObject = admissionv1.Update, raw(t, test.old)
			}
			response, got := test.webhook.Validate(t.Context(), request), ""
			if !response.Allowed {
				got = response.Result.Message
				if response.Result.Code == 400 {
					got = "400 " + got
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got) %s", diff)
			}
		})
	}
	if rules := (&Webhook{}).Rules(); rules != nil {
		t.Errorf("rules %v for what is not asked", rules)
	}
	if rules := (&Webhook{Distribution: others}).Rules(); len(rules) != 1 || !slices.Equal(rules[0].Verbs, []string{"list"}) {
		t.Errorf("rules %v", rules)
	}
	if handlers := (&Webhook{}).Handlers(); len(handlers) != 1 || handlers[ValidatePath] == nil {
		t.Errorf("handlers %v", handlers)
	}
}

func raw(t *testing.T, object any) runtime.RawExtension {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}
