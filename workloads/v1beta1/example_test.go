// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// A StatefulSet in Go, the kind that a scheme knows it by, and its spec as it stands in a manifest.
func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	object := &v1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: v1beta1.StatefulSetSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/web:v1"}}},
			},
			ReserveOrdinals: []int{1},
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
	// apps.kruise.io/v1beta1 StatefulSet
	// replicas: 3
	// reserveOrdinals:
	// - 1
	// selector:
	//   matchLabels:
	//     app: web
	// template:
	//   metadata:
	//     labels:
	//       app: web
	//   spec:
	//     containers:
	//     - image: registry.example/web:v1
	//       name: main
	//       resources: {}
	// updateStrategy: {}
}
