// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"fmt"

	"github.com/podwright/podwright/sidecar/conversion"
)

// v1beta1 has no namespace in the spec: a selector says the same.
func ExampleSidecarSet() {
	stored := []byte(`{"apiVersion":"apps.kruise.io/v1alpha1","kind":"SidecarSet","metadata":{"name":"mesh"},"spec":{"namespace":"shop"}}`)

	read, err := conversion.SidecarSet(stored, "apps.kruise.io/v1beta1")
	fmt.Println(string(read), err)

	written, err := conversion.SidecarSet(read, "apps.kruise.io/v1alpha1")
	fmt.Println(string(written), err)
	// Output:
	// {"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata":{"annotations":{"v1alpha1-fields.podwright.github.io/spec.namespace":"{\"spec\":{\"namespace\":\"shop\"}}"},"name":"mesh"},"spec":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}}}} <nil>
	// {"apiVersion":"apps.kruise.io/v1alpha1","kind":"SidecarSet","metadata":{"name":"mesh"},"spec":{"namespace":"shop"}} <nil>
}
