// SPDX-License-Identifier: Apache-2.0

package podprobemarker_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A probe goes to the pod, and to no other host.
func ExampleValidateCreate() {
	marker := &v1alpha1.PodProbeMarker{Spec: v1alpha1.PodProbeMarkerSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "game"}},
		Probes: []v1alpha1.PodContainerProbe{{Name: "idle", ContainerName: "main", PodConditionType: "game.io/idle",
			Probe: corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "169.254.169.254", Port: intstr.FromInt32(80)}}}}},
	}}
	for _, err := range podprobemarker.ValidateCreate(marker) {
		fmt.Println(err)
	}
	// Output:
	// spec.probes[0].probe.httpGet.host: Forbidden: host field in probes is not allowed: a probe goes to the pod
}
