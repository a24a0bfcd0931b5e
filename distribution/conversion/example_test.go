// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"fmt"
	"log"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/distribution/conversion"
)

// The kinds that OpenKruise 1.9 has in v1beta1 get it before their definitions are installed. The webhook serves Handler.
func ExampleServeV1beta1() {
	client := admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://operator.shop.example" + conversion.Path)}
	for _, crd := range distribution.CRDs() {
		if err := conversion.ServeV1beta1(crd, client); err != nil {
			log.Fatal(err)
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, version := range versions[1:] {
			fmt.Println(crd.GetName(), version.(map[string]any)["name"])
		}
	}
	// Output:
	// imagelistpulljobs.apps.kruise.io v1beta1
	// imagepulljobs.apps.kruise.io v1beta1
	// nodeimages.apps.kruise.io v1beta1
}
