// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/inplace"
)

// Does more memory recreate the pod? Not if nodes may resize it: the container restarts only if its policy says so.
func ExampleCompare_resize() {
	template := func(cpu, memory string) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "web", Image: "nginx:1.21",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
			}},
			ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}},
		}}}}
	}
	for _, next := range []*corev1.PodTemplateSpec{template("2", "1Gi"), template("1", "2Gi")} {
		for _, resize := range []bool{false, true} {
			verdict, err := inplace.Compare(template("1", "1Gi"), next, inplace.CalculateOptions{Resize: resize})
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(verdict)
		}
	}
	// Output:
	// the pod is recreated:
	//   replace /spec/containers/0/resources/requests/cpu (container "web"): of a running container only the image can be replaced
	// the pod stays, no container restarts:
	//   container "web": requests.cpu 1 becomes 2, without a restart
	// the pod is recreated:
	//   replace /spec/containers/0/resources/requests/memory (container "web"): of a running container only the image can be replaced
	// the pod stays, containers restart:
	//   container "web": its resizePolicy asks for a restart
	//   container "web": requests.memory 1Gi becomes 2Gi, with a restart
}
