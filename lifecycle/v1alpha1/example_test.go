// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A request in Go, the kind that a scheme knows it by, and its spec as it stands in a manifest.
func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	object := &v1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "restart-web"},
		Spec: v1alpha1.ContainerRecreateRequestSpec{
			PodName:                 "web-0",
			Containers:              []v1alpha1.ContainerRecreateRequestContainer{{Name: "main"}},
			TTLSecondsAfterFinished: ptr.To[int32](600),
		},
	}
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		log.Fatal(err)
	}
	spec, err := yaml.Marshal(object.Spec)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %s\n%s", kinds[0].GroupVersion(), kinds[0].Kind, spec)
	// Output:
	// apps.kruise.io/v1alpha1 ContainerRecreateRequest
	// containers:
	// - name: main
	// podName: web-0
	// ttlSecondsAfterFinished: 600
}
