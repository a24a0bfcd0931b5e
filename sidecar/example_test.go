// SPDX-License-Identifier: Apache-2.0

package sidecar_test

import (
	"fmt"

	"github.com/podwright/podwright/sidecar"
)

// What a manager applies when it starts.
func ExampleCRDs() {
	for _, crd := range sidecar.CRDs() {
		fmt.Println(crd.GetKind(), crd.GetName())
	}
	// Output:
	// CustomResourceDefinition sidecarsets.apps.kruise.io
}

// Have the API server ask a service for defaults and validation.
func ExampleWebhooks() {
	mutating, validating := sidecar.Webhooks()
	for i := range validating {
		validating[i].ClientConfig.Service.Namespace, validating[i].ClientConfig.Service.Name = "shop", "operator"
	}
	fmt.Println(len(mutating), "mutating and", len(validating), "validating webhooks")
	for _, w := range validating {
		fmt.Println(w.Name, "asks about", w.Rules[0].Operations, "of", w.Rules[0].Resources, "at", *w.ClientConfig.Service.Path)
	}
	// Output:
	// 1 mutating and 1 validating webhooks
	// vsidecarset.kb.io asks about [CREATE UPDATE] of [sidecarsets] at /validate-apps-kruise-io-v1alpha1-sidecarset
}
