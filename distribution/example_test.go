// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"fmt"

	"github.com/podwright/podwright/distribution"
)

// What a manager applies when it starts.
func ExampleCRDs() {
	for _, crd := range distribution.CRDs() {
		fmt.Println(crd.GetKind(), crd.GetName())
	}
	// Output:
	// CustomResourceDefinition imagelistpulljobs.apps.kruise.io
	// CustomResourceDefinition imagepulljobs.apps.kruise.io
	// CustomResourceDefinition nodeimages.apps.kruise.io
	// CustomResourceDefinition persistentpodstates.apps.kruise.io
	// CustomResourceDefinition resourcedistributions.apps.kruise.io
	// CustomResourceDefinition workloadspreads.apps.kruise.io
}

// Have the API server ask a service for defaults and validation.
func ExampleWebhooks() {
	mutating, validating := distribution.Webhooks()
	for i := range validating {
		validating[i].ClientConfig.Service.Namespace, validating[i].ClientConfig.Service.Name = "shop", "operator"
	}
	fmt.Println(len(mutating), "mutating and", len(validating), "validating webhooks")
	for _, w := range validating {
		fmt.Println(w.Name, "asks about", w.Rules[0].Operations, "of", w.Rules[0].Resources, "at", *w.ClientConfig.Service.Path)
	}
	// Output:
	// 3 mutating and 6 validating webhooks
	// vimagepulljob.kb.io asks about [CREATE UPDATE] of [imagepulljobs] at /validate-apps-kruise-io-v1alpha1-imagepulljob
	// vimagelistpulljob.kb.io asks about [CREATE UPDATE] of [imagelistpulljobs] at /validate-apps-kruise-io-v1alpha1-imagelistpulljob
	// vnodeimage.kb.io asks about [CREATE UPDATE] of [nodeimages] at /validate-apps-kruise-io-v1alpha1-nodeimage
	// vresourcedistribution.kb.io asks about [CREATE UPDATE] of [resourcedistributions] at /validate-apps-kruise-io-v1alpha1-resourcedistribution
	// vworkloadspread.kb.io asks about [CREATE UPDATE] of [workloadspreads] at /validate-apps-kruise-io-v1alpha1-workloadspread
	// vpersistentpodstate.kb.io asks about [CREATE UPDATE] of [persistentpodstates] at /validate-apps-kruise-io-persistentpodstate
}
