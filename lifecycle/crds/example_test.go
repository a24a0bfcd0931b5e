package crds_test

import (
	"fmt"

	"github.com/podwright/podwright/lifecycle/crds"
)

// What a manager applies when it starts.
func ExampleAll() {
	for _, crd := range crds.All() {
		fmt.Println(crd.GetKind(), crd.GetName())
	}
	// Output: CustomResourceDefinition containerrecreaterequests.apps.kruise.io
}
