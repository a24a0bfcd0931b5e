// SPDX-License-Identifier: Apache-2.0

package readiness

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// InjectGate adds the readiness gate KruisePodReady to a pod that is about to
// be created, so that it can be taken out of service later. Pods whose controller
// is of the group apps.kruise.io get it; with all, every pod does. It returns
// whether it changed the pod: not if the gate is there already. Other gates
// stay. (PR-1, PR-2)
//
// A pod with the gate is not ready before it has the condition, see Initial.
func InjectGate(pod *corev1.Pod, all bool) bool {
	if HasGate(pod, v1alpha1.KruisePodReady) || !all && !controlledByGroup(pod) {
		return false
	}
	AddGate(&pod.Spec, v1alpha1.KruisePodReady)
	return true
}

// controlledByGroup tells whether the pod's controller is of our group, in
// any version.
func controlledByGroup(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return false
	}
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && version.Group == v1alpha1.SchemeGroupVersion.Group
}
