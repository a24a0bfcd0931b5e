// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"encoding/pem"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	serverconversion "k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/util/webhook"

	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// statefulSetDefinition is the CRD with a conversion webhook that is really served.
func statefulSetDefinition(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	server := httptest.NewTLSServer(conversion.Handler())
	t.Cleanup(server.Close)
	url := server.URL + conversion.Path
	config := admissionregistrationv1.WebhookClientConfig{
		URL:      &url,
		CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}
	for _, crd := range workloads.CRDs() {
		if crd.GetName() == "statefulsets.apps.kruise.io" {
			if err := conversion.SetWebhook(crd, config); err != nil {
				t.Fatal(err)
			}
			return crd
		}
	}
	t.Fatal("there is no CRD statefulsets.apps.kruise.io")
	return nil
}

// converter is what the API server makes of a definition to convert objects.
func converter(t *testing.T, crd *unstructured.Unstructured) runtime.ObjectConvertor {
	t.Helper()
	for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal(t, crd)) {
		t.Error(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, definition); err != nil {
		t.Fatal(err)
	}
	asItIs := func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r }
	factory, err := serverconversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(), asItIs)
	if err != nil {
		t.Fatal(err)
	}
	safe, _, err := factory.NewConverter(definition)
	if err != nil {
		t.Fatal(err)
	}
	return safe
}

func statefulSetObject(t *testing.T, version, metadata, lines string) *unstructured.Unstructured {
	t.Helper()
	object := map[string]any{}
	parse(t, strings.Replace(statefulSet(version, lines), "{name: web}", metadata, 1), &object)
	return &unstructured.Unstructured{Object: object}
}

// STS-E23: a client that knows v1alpha1 only reads an object and writes it back.
// The API server drops in each version what that one does not have.
func TestTheAPIServerConvertsWithoutLoss(t *testing.T) {
	crd := statefulSetDefinition(t)
	definition, convert := internal(t, crd), converter(t, crd)
	stored := statefulSetObject(t, "v1beta1", "{name: web, namespace: shop, uid: u-1, labels: {a: b}, annotations: {c: d}}",
		"reserveOrdinals: [1]\nlifecycle: {preDelete: {finalizersHandler: [a/b]}}\nscaleStrategy: {maxUnavailable: 1}\n"+
			"persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}\nreplicas: 3\ntemplate: {spec: {futureField: {a: 1}}}")
	stored.Object["status"] = map[string]any{"replicas": int64(3), "updatedReadyReplicas": int64(2)}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "apps.kruise.io/v1beta1", "kind": "StatefulSetList"}}
	list.Items = []unstructured.Unstructured{*stored.DeepCopy(), *statefulSetObject(t, "v1beta1", "{name: db}", "replicas: 1")}

	read, err := convert.ConvertToVersion(list.DeepCopy(), v1alpha1.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	items := read.(*unstructured.UnstructuredList).Items
	for i := range items {
		pruning.Prune(items[i].Object, structural(t, definition, "v1alpha1"), true)
		if _, has := items[i].GetAnnotations()[conversion.KeptFieldsPrefix+"spec.reserveOrdinals"]; has != (items[i].GetName() == "web") {
			t.Errorf("%s in v1alpha1 has annotations %v", items[i].GetName(), items[i].GetAnnotations())
		}
	}
	for i := range items {
		if err := unstructured.SetNestedField(items[i].Object, int64(7), "spec", "replicas"); err != nil {
			t.Fatal(err)
		}
		written, err := convert.ConvertToVersion(&items[i], v1beta1.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		want := list.Items[i].DeepCopy()
		if err := unstructured.SetNestedField(want.Object, int64(7), "spec", "replicas"); err != nil {
			t.Fatal(err)
		}
		pruning.Prune(written.(*unstructured.Unstructured).Object, structural(t, definition, "v1beta1"), true)
		if diff := cmp.Diff(want, written); diff != "" {
			t.Errorf("v1beta1 after the write (-want +got):\n%s", diff)
		}
	}
}

func TestTheAPIServerPassesOnWhyAnObjectCannotBeConverted(t *testing.T) {
	convert := converter(t, statefulSetDefinition(t))
	object := statefulSetObject(t, "v1alpha1", "{name: web, namespace: shop}", "replicas: 1")
	object.SetAnnotations(map[string]string{conversion.KeptFieldsAnnotation: `{"spec":{"replicas":3}}`})
	_, err := convert.ConvertToVersion(object, v1beta1.SchemeGroupVersion)
	const want = "StatefulSet shop/web: metadata.annotations[podwright.github.io/v1beta1-fields]: spec.replicas is no field that only v1beta1 has"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
