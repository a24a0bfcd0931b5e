// SPDX-License-Identifier: Apache-2.0

package barrier_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// A proxy that starts before everything else.
func ExampleMutate() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main"},
			{Name: "proxy", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "100"}}},
		}},
	}
	if err := barrier.Mutate(pod, "x7k2p"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("pod", pod.Name)
	for _, c := range pod.Spec.Containers {
		for _, b := range barrier.Of(&c) {
			fmt.Printf("%s waits for %s in %s\n", c.Name, b.Key, b.ConfigMap)
		}
	}
	// Output:
	// pod web-x7k2p
	// main waits for p_0 in web-x7k2p-barrier
	// proxy waits for p_100 in web-x7k2p-barrier
}

// A priority that is no integer.
func ExampleMutate_refused() {
	err := barrier.Mutate(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main"},
			{Name: "proxy", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "first"}}},
		}},
	}, "")
	fmt.Println(err)
	// Output:
	// spec.containers[proxy].env[KRUISE_CONTAINER_PRIORITY].value: Invalid value: "first": the launch priority must be a decimal integer, such as 100, 0 or -5
}
