// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// A CloneSet in Go, the kind that a scheme knows it by, and its spec as it stands in a manifest.
func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	object := &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/web:v1"}}},
			},
			UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType},
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
	// apps.kruise.io/v1alpha1 CloneSet
	// replicas: 3
	// scaleStrategy: {}
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
	// updateStrategy:
	//   type: InPlaceIfPossible
}
