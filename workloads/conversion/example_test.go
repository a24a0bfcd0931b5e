// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"fmt"
	"log"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/conversion"
)

// A StatefulSet goes through the hands of a client that knows v1alpha1 only.
func ExampleStatefulSet() {
	stored := []byte(`{"apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","metadata":{"name":"web"},"spec":{"replicas":3,"reserveOrdinals":[1]}}`)

	read, err := conversion.StatefulSet(stored, "apps.kruise.io/v1alpha1")
	fmt.Println(string(read), err)

	written, err := conversion.StatefulSet(read, "apps.kruise.io/v1beta1")
	fmt.Println(string(written), err)
	// Output:
	// {"apiVersion":"apps.kruise.io/v1alpha1","kind":"StatefulSet","metadata":{"annotations":{"v1beta1-fields.podwright.github.io/spec.reserveOrdinals":"{\"spec\":{\"reserveOrdinals\":[1]}}"},"name":"web"},"spec":{"replicas":3}} <nil>
	// {"apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","metadata":{"name":"web"},"spec":{"replicas":3,"reserveOrdinals":[1]}} <nil>
}

// Serve conversion, and name the webhook in the definitions before they are
// installed.
func Example() {
	mux := http.NewServeMux()
	mux.Handle(conversion.Path, conversion.Handler())
	go func() { log.Println(http.ListenAndServeTLS(":9443", "tls.crt", "tls.key", mux)) }()

	client := admissionregistrationv1.WebhookClientConfig{
		Service:  &admissionregistrationv1.ServiceReference{Namespace: "shop", Name: "shop-operator"},
		CABundle: []byte("-----BEGIN CERTIFICATE-----\n…"),
	}
	definitions := workloads.CRDs()
	for _, crd := range definitions {
		if err := conversion.SetWebhook(crd, client); err != nil {
			log.Fatal(err)
		}
	}
	// Apply the definitions, as the example of workloads.CRDs does.
}

// The kinds that OpenKruise 1.9 has in v1beta1 get it before their definitions are installed. StatefulSets come with both versions.
func ExampleServeV1beta1() {
	client := admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://operator.shop.example" + conversion.Path)}
	for _, crd := range workloads.CRDs() {
		if err := conversion.ServeV1beta1(crd, client); err != nil {
			log.Fatal(err)
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		fmt.Println(crd.GetName(), len(versions))
	}
	// Output:
	// advancedcronjobs.apps.kruise.io 2
	// broadcastjobs.apps.kruise.io 2
	// clonesets.apps.kruise.io 1
	// daemonsets.apps.kruise.io 2
	// statefulsets.apps.kruise.io 2
	// uniteddeployments.apps.kruise.io 1
}

// For a cluster that stores v1beta1, as OpenKruise 1.9 leaves it.
func ExampleStoreV1beta1() {
	client := admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://operator.shop.example" + conversion.Path)}
	for _, crd := range workloads.CRDs() {
		if err := conversion.ServeV1beta1(crd, client); err != nil {
			log.Fatal(err)
		}
		if err := conversion.StoreV1beta1(crd); err != nil {
			log.Fatal(err)
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, version := range versions {
			if version := version.(map[string]any); version["storage"] == true {
				fmt.Println(crd.GetName(), version["name"])
			}
		}
	}
	// Output:
	// advancedcronjobs.apps.kruise.io v1beta1
	// broadcastjobs.apps.kruise.io v1beta1
	// clonesets.apps.kruise.io v1alpha1
	// daemonsets.apps.kruise.io v1beta1
	// statefulsets.apps.kruise.io v1beta1
	// uniteddeployments.apps.kruise.io v1alpha1
}
