// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"

	"github.com/podwright/podwright/lifecycle"
)

// What a manager applies when it starts.
func ExampleCRDs() {
	for _, crd := range lifecycle.CRDs()[:1] { // of one kind, to be short
		fmt.Println(crd.GetKind(), crd.GetName())
	}
	// Output:
	// CustomResourceDefinition containerrecreaterequests.apps.kruise.io
}

// If a URL leads to the webhooks, it takes the place of the service.
func ExampleWebhooks() {
	mutating, _ := lifecycle.Webhooks()
	for _, w := range mutating {
		url := "https://operator.example.com" + *w.ClientConfig.Service.Path
		w.ClientConfig.URL, w.ClientConfig.Service = &url, nil
		fmt.Println(w.Name, *w.ClientConfig.URL)
	}
	// Output:
	// mpod.kb.io https://operator.example.com/mutate-pod
	// mcontainerrecreaterequest.kb.io https://operator.example.com/mutate-apps-kruise-io-v1alpha1-containerrecreaterequest
}
