// SPDX-License-Identifier: Apache-2.0

package availability_test

import (
	"fmt"

	"github.com/podwright/podwright/availability"
)

// What a manager applies when it starts.
func ExampleCRDs() {
	for _, crd := range availability.CRDs() {
		fmt.Println(crd.GetKind(), crd.GetName())
	}
	// Output:
	// CustomResourceDefinition podunavailablebudgets.policy.kruise.io
}

// Have the API server ask a service for defaults and validation.
func ExampleWebhooks() {
	mutating, validating := availability.Webhooks()
	for i := range validating {
		validating[i].ClientConfig.Service.Namespace, validating[i].ClientConfig.Service.Name = "shop", "operator"
	}
	fmt.Println(len(mutating), "mutating and", len(validating), "validating webhooks")
	for _, w := range validating {
		fmt.Println(w.Name, "asks about", w.Rules[0].Operations, "of", w.Rules[0].Resources, "at", *w.ClientConfig.Service.Path)
	}
	// Output:
	// 0 mutating and 10 validating webhooks
	// vpodunavailablebudget.kb.io asks about [CREATE UPDATE] of [podunavailablebudgets] at /validate-policy-kruise-io-podunavailablebudget
	// vpod.kb.io asks about [UPDATE DELETE] of [pods] at /validate-pod
	// vpodeviction.kb.io asks about [CREATE] of [pods/eviction] at /validate-pod
	// vnamespace.kb.io asks about [DELETE] of [namespaces] at /validate-namespace
	// vcustomresourcedefinition.kb.io asks about [DELETE] of [customresourcedefinitions] at /validate-customresourcedefinition
	// vbuiltindeployment.kb.io asks about [DELETE] of [deployments] at /validate-apps-deployment
	// vbuiltinreplicaset.kb.io asks about [DELETE] of [replicasets] at /validate-apps-replicaset
	// vbuiltinstatefulset.kb.io asks about [DELETE] of [statefulsets] at /validate-apps-statefulset
	// vservice.kb.io asks about [DELETE] of [services] at /validate-service
	// vingress.kb.io asks about [DELETE] of [ingresses] at /validate-ingress
}
