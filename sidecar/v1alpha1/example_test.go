// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// A SidecarSet in Go, the kind that a scheme knows it by, and its spec as it stands in a manifest.
func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	object := &v1alpha1.SidecarSet{
		ObjectMeta: metav1.ObjectMeta{Name: "proxy"},
		Spec: v1alpha1.SidecarSetSpec{
			Selector:   &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "proxy", Image: "registry.example/proxy:v1"}}},
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
	// apps.kruise.io/v1alpha1 SidecarSet
	// containers:
	// - image: registry.example/proxy:v1
	//   name: proxy
	//   resources: {}
	//   shareVolumePolicy: {}
	//   upgradeStrategy: {}
	// injectionStrategy: {}
	// selector:
	//   matchLabels:
	//     app: web
	// updateStrategy: {}
}
