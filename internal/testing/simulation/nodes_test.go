// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// Nodes have place for a pod that requests something, and none for one that requests more than any node has.
func TestNodesHavePlace(t *testing.T) {
	for cpu, want := range map[string]bool{"0": true, "50m": true, "64": true, "65": false} {
		spec := &corev1.PodSpec{Containers: []corev1.Container{{Name: "log", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}}
		if got := scheduler.Takes(newNode("n1", "a", "b"), spec); got != want {
			t.Errorf("a node takes a pod that requests %s of cpu: %v, want %v", cpu, got, want)
		}
	}
}
