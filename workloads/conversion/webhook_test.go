// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/conversion"
)

// definition is a CRD of the library.
func definition(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	for _, crd := range workloads.CRDs() {
		if crd.GetName() == name {
			return crd
		}
	}
	t.Fatalf("there is no CRD %s", name)
	return nil
}

// The definition of StatefulSets gets the webhook, of which internal/admission shows what it says; that of CloneSets, which have one
// version, gets none.
func TestSetWebhook(t *testing.T) {
	client := admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "shop", Name: "hooks"}}
	for name, want := range map[string]string{"statefulsets.apps.kruise.io": conversion.Path, "clonesets.apps.kruise.io": ""} {
		crd := definition(t, name)
		if err := conversion.SetWebhook(crd, client); err != nil {
			t.Fatal(err)
		}
		if path, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "service", "path"); path != want {
			t.Errorf("%s is converted at %q, want %q", name, path, want)
		}
	}
	broken := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "statefulsets.apps.kruise.io"}, "spec": "x"}}
	if err := conversion.SetWebhook(broken, client); err == nil {
		t.Error("no error for a definition whose spec is no object")
	}
}

func TestHandler(t *testing.T) {
	body := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u-1","desiredAPIVersion":"apps.kruise.io/v1alpha1","objects":[` +
		ofKind("StatefulSet", beta, `"metadata":{"name":"web"},"spec":{"reserveOrdinals":[1]}`) + `]}}`
	server := httptest.NewServer(conversion.Handler())
	defer server.Close()
	response, err := http.Post(server.URL+conversion.Path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"u-1","convertedObjects":[` +
		ofKind("StatefulSet", alpha, `"metadata":{"name":"web","annotations":`+kept([2]string{"spec.reserveOrdinals", "[1]"})+`},"spec":{}`) + `],"result":{"metadata":{},"status":"Success"}}}`
	if diff := cmp.Diff(conformance.Tree(t, []byte(want)), conformance.Tree(t, got)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}
