// SPDX-License-Identifier: Apache-2.0

package budget

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Disrupts tells whether an update of a pod has to be asked about. It changes the spec, other than
// by resources that need no restart. Or it gives the pod its first label by which it counts as
// unavailable. (PUB-18, PUB-19)
func Disrupts(before, after *corev1.Pod) bool {
	if heldOut(after) && !heldOut(before) {
		return true
	}
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return false
	}
	a, b := before.Spec.DeepCopy(), after.Spec.DeepCopy()
	resized(a, b)
	return !equality.Semantic.DeepEqual(a, b)
}

// resized takes from both specs the resources that may change without a restart.
func resized(a, b *corev1.PodSpec) {
	a.Resources, b.Resources = nil, nil
	for _, list := range [][2][]corev1.Container{{a.Containers, b.Containers}, {a.InitContainers, b.InitContainers}} {
		for i := range min(len(list[0]), len(list[1])) {
			keepRestarting(&list[0][i])
			keepRestarting(&list[1][i])
		}
	}
}

// keepRestarting leaves a container the resources whose change restarts it.
func keepRestarting(c *corev1.Container) {
	restarts := map[corev1.ResourceName]bool{}
	for _, p := range c.ResizePolicy {
		restarts[p.ResourceName] = p.RestartPolicy == corev1.RestartContainer
	}
	keep := func(list corev1.ResourceList) (kept corev1.ResourceList) {
		for name, quantity := range list {
			if restarts[name] {
				if kept == nil {
					kept = map[corev1.ResourceName]resource.Quantity{}
				}
				kept[name] = quantity
			}
		}
		return kept
	}
	c.Resources.Requests, c.Resources.Limits = keep(c.Resources.Requests), keep(c.Resources.Limits)
}
