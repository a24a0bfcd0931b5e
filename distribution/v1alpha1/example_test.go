// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// A job in Go, the kind that a scheme knows it by, and its spec as it stands in a manifest.
func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	object := &v1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-v2"},
		Spec: v1alpha1.ImagePullJobSpec{
			Image:            "registry.example/web:v2",
			PodSelector:      &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			CompletionPolicy: v1alpha1.CompletionPolicy{Type: v1alpha1.Always, TTLSecondsAfterFinished: ptr.To[int32](600)},
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
	// apps.kruise.io/v1alpha1 ImagePullJob
	// completionPolicy:
	//   ttlSecondsAfterFinished: 600
	//   type: Always
	// image: registry.example/web:v2
	// podSelector:
	//   matchLabels:
	//     app: web
}
