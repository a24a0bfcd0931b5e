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
	"k8s.io/utils/ptr"

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

func TestSetWebhook(t *testing.T) {
	type config = admissionregistrationv1.WebhookClientConfig
	for _, test := range []struct {
		name   string
		client config
		want   map[string]any
	}{
		{"a service",
			config{Service: &admissionregistrationv1.ServiceReference{Namespace: "shop", Name: "hooks"}, CABundle: []byte("ca")},
			map[string]any{"caBundle": "Y2E=", "service": map[string]any{"namespace": "shop", "name": "hooks", "path": "/convert", "port": int64(443)}}},
		{"a service with path and port",
			config{Service: &admissionregistrationv1.ServiceReference{Namespace: "shop", Name: "hooks", Path: ptr.To("/x"), Port: ptr.To[int32](9443)}},
			map[string]any{"service": map[string]any{"namespace": "shop", "name": "hooks", "path": "/x", "port": int64(9443)}}},
		{"a URL", config{URL: ptr.To("https://hooks.example:9443/convert")}, map[string]any{"url": "https://hooks.example:9443/convert"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			crd := definition(t, "statefulsets.apps.kruise.io")
			if err := conversion.SetWebhook(crd, test.client); err != nil {
				t.Fatal(err)
			}
			got, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion")
			want := map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}, "clientConfig": test.want}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("conversion (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetWebhookLeavesTheConfigurationAlone(t *testing.T) {
	service := &admissionregistrationv1.ServiceReference{Namespace: "shop", Name: "hooks"}
	err := conversion.SetWebhook(definition(t, "statefulsets.apps.kruise.io"), admissionregistrationv1.WebhookClientConfig{Service: service})
	if err != nil || service.Path != nil || service.Port != nil {
		t.Errorf("error %v, the caller's service became %v", err, service)
	}
}

func TestSetWebhookLeavesOtherKindsAlone(t *testing.T) {
	crd := definition(t, "clonesets.apps.kruise.io")
	if err := conversion.SetWebhook(crd, admissionregistrationv1.WebhookClientConfig{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(definition(t, "clonesets.apps.kruise.io"), crd); diff != "" {
		t.Errorf("CloneSet, which has one version (-want +got):\n%s", diff)
	}
}

func TestSetWebhookErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		client admissionregistrationv1.WebhookClientConfig
		want   string
	}{
		{"nowhere", admissionregistrationv1.WebhookClientConfig{}, "want a service or a URL, got neither"},
		{"both", admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://x"), Service: &admissionregistrationv1.ServiceReference{}}, "want a service or a URL, got both"},
	} {
		t.Run(test.name, func(t *testing.T) {
			crd := definition(t, "statefulsets.apps.kruise.io")
			err := conversion.SetWebhook(crd, test.client)
			if err == nil || !strings.Contains(err.Error(), "statefulsets.apps.kruise.io: "+test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if diff := cmp.Diff(definition(t, "statefulsets.apps.kruise.io"), crd); diff != "" {
				t.Errorf("definition (-want +got):\n%s", diff)
			}
		})
	}
	broken := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "statefulsets.apps.kruise.io"}, "spec": "x"}}
	if err := conversion.SetWebhook(broken, admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://x")}); err == nil {
		t.Error("no error for a definition whose spec is no object")
	}
}

func TestHandler(t *testing.T) {
	body := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u-1","desiredAPIVersion":"apps.kruise.io/v1alpha1","objects":[` +
		set(beta, `"metadata":{"name":"web"},"spec":{"reserveOrdinals":[1]}`) + `]}}`
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
		set(alpha, `"metadata":{"name":"web","annotations":`+kept(`{"spec":{"reserveOrdinals":[1]}}`)+`},"spec":{}`) + `],"result":{"metadata":{},"status":"Success"}}}`
	if diff := cmp.Diff(tree(t, []byte(want)), tree(t, got)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}
