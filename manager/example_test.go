// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"bytes"
	"fmt"
	"log"

	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/manager"
)

// A program of four kinds, described once. From that come its manifests, which this prints, its handlers, and what runs.
func Example() {
	set, err := kinds(&rest.Config{}) // which is asked nothing; the next Example has this function
	if err != nil {
		log.Fatal(err)
	}
	objects, err := set.Objects()
	if err != nil {
		log.Fatal(err)
	}
	manifest, err := manager.YAML(objects...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Count(manifest, []byte("---\n")), "documents:")
	for _, object := range objects {
		fmt.Println(" ", object.GetKind(), object.GetName())
	}
	mutating, validating := set.Webhooks()
	fmt.Println("registered when it runs:")
	for _, w := range mutating {
		fmt.Println("  mutating", w.Name)
	}
	for _, w := range validating {
		fmt.Println("  validating", w.Name)
	}
	// Output:
	// 9 documents:
	//   CustomResourceDefinition clonesets.apps.kruise.io
	//   CustomResourceDefinition daemonsets.apps.kruise.io
	//   CustomResourceDefinition sidecarsets.apps.kruise.io
	//   CustomResourceDefinition podunavailablebudgets.policy.kruise.io
	//   ServiceAccount shop-manager
	//   ClusterRole shop-manager
	//   ClusterRoleBinding shop-manager
	//   Role shop-manager
	//   RoleBinding shop-manager
	// registered when it runs:
	//   mutating mcloneset.kb.io
	//   mutating mdaemonset.kb.io
	//   mutating msidecarset.kb.io
	//   mutating mpod.kb.io
	//   validating vcloneset.kb.io
	//   validating vdaemonset.kb.io
	//   validating vsidecarset.kb.io
	//   validating vpodunavailablebudget.kb.io
	//   validating vpod.kb.io
	//   validating vpodeviction.kb.io
}
