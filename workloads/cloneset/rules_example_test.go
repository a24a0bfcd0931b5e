// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"fmt"

	"github.com/podwright/podwright/workloads/cloneset"
)

// What a role for the controller has to allow, by the options that it runs with.
func ExampleRules() {
	for _, rule := range cloneset.Rules(cloneset.Options{NoNodes: true}) {
		fmt.Println(rule.APIGroups[0], rule.Resources[0], rule.Verbs)
	}
	// Output:
	// apps.kruise.io clonesets [list watch patch]
	// apps.kruise.io clonesets/status [patch]
	// apps.kruise.io clonesets/finalizers [update]
	//  pods [get list watch create patch delete]
	//  pods/status [patch]
	//  persistentvolumeclaims [get list watch create patch delete]
	// apps controllerrevisions [get list watch create patch delete]
}
