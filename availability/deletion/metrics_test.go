// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
)

type refused []string

func (r *refused) Refused(kind schema.GroupKind, namespace string) {
	*r = append(*r, fmt.Sprintf("%s in %q", kind, namespace))
}

// DP-16: refusals that the label is the reason of are counted, and nothing else.
func TestCountedRefusals(t *testing.T) {
	deployment, ns := schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Kind: "Namespace"}
	broken := &cluster{broken: 1}
	var counted refused
	handlers := deletion.Counted((&deletion.Webhook{List: broken.List}).Handlers(), &counted)
	for _, ask := range []struct {
		path      string
		kind      schema.GroupKind
		namespace string
		old       string
		operation admissionv1.Operation
		allowed   bool
	}{
		{deletion.DeploymentPath, deployment, "shop", object("Always", "", ""), admissionv1.Delete, false},
		{deletion.DeploymentPath, deployment, "shop", object("Cascading", "", `"replicas":2`), admissionv1.Delete, false},
		{deletion.DeploymentPath, deployment, "shop", object("Cascading", "", `"replicas":0`), admissionv1.Delete, true},
		{deletion.DeploymentPath, deployment, "shop", object("Always", "", ""), admissionv1.Update, true},
		{deletion.DeploymentPath, deployment, "shop", `{"metadata":[]}`, admissionv1.Delete, false}, // it cannot be decoded
		{deletion.NamespacePath, ns, "", object("Always", "", ""), admissionv1.Delete, false},
		{deletion.NamespacePath, ns, "", object("Cascading", "", ""), admissionv1.Delete, false}, // its pods cannot be counted
	} {
		request := request(ask.kind, ask.old)
		request.Namespace, request.Operation = ask.namespace, ask.operation
		review := &admissionv1.AdmissionReview{Request: request}
		review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
		body, err := json.Marshal(review)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, ask.path, bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		handlers[ask.path].ServeHTTP(answer, r)
		got := &admissionv1.AdmissionReview{}
		if err := json.Unmarshal(answer.Body.Bytes(), got); err != nil || got.Response == nil || got.Response.Allowed != ask.allowed {
			t.Errorf("%s of %s: %s, %v", ask.operation, ask.old, answer.Body, err)
		}
	}
	if diff := cmp.Diff(refused{`Deployment.apps in "shop"`, `Deployment.apps in "shop"`, `Namespace in ""`}, counted); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}
