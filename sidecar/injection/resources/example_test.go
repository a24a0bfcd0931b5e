// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/sidecar/injection/resources"
)

// A sidecar gets half of what the containers of the pod have together, and no less than 50m.
func Example() {
	containers := make([]corev1.Container, 2)
	for i, cpu := range []string{"50m", "250m"} {
		containers[i].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	var half *resources.Expression
	half, err := resources.Parse("max(cpu*50%, 50m)", "cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, of := range []resources.Aggregate{resources.Sum(containers), resources.Max(containers)} {
		cpu, err := half.Evaluate(of.Requests[corev1.ResourceCPU], false)
		fmt.Println(cpu.String(), err, "limits:", len(of.Limits)) // no container has one
	}
	// Output:
	// 150m <nil> limits: 0
	// 125m <nil> limits: 0
}
