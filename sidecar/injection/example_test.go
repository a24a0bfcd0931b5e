// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// What would be injected into a pod, and why not the rest.
func ExampleInject() {
	sidecarSet := func(name, app string) *v1alpha1.SidecarSet {
		return &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.SidecarSetSpec{
			Selector:   &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
			Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: name, Image: name + ":1"}}},
		}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
	result, err := injection.Inject(injection.Input{
		Pod: pod, SidecarSets: []*v1alpha1.SidecarSet{sidecarSet("log", "web"), sidecarSet("backup", "db")}, Now: time.Now(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Pod.Spec.Containers {
		fmt.Println(c.Name, c.Image)
	}
	for _, set := range result.SidecarSets {
		fmt.Println(set.Name, set.Containers, set.Skipped)
	}
	// Output:
	// log log:1
	// main nginx:1
	// backup [] spec.selector "app=db" does not match the labels of the pod, "app=web"
	// log [log]
}
