// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// UpdateOf returns the operation that an update of a pod is: PubUpdateOperation, or PubResizeOperation if it restarts
// nothing. It returns "" if no budget has to be asked about the update. (PUB-18, PUB-19)
func UpdateOf(before, after *corev1.Pod) v1alpha1.PubOperation {
	switch {
	case heldOut(after) && !heldOut(before):
		return v1alpha1.PubUpdateOperation
	case equality.Semantic.DeepEqual(before.Spec, after.Spec):
		return ""
	case resizes(before, after):
		return v1alpha1.PubResizeOperation
	}
	return v1alpha1.PubUpdateOperation
}

// resizes tells whether nothing of a pod changes but cpu and memory of its regular containers. It restarts none of
// them, and the QoS class stays. The kubelet takes no resize of a static pod. (PUB-19)
func resizes(before, after *corev1.Pod) bool {
	old := before.Spec.Containers
	if _, static := before.Annotations[corev1.MirrorPodAnnotationKey]; static || len(old) != len(after.Spec.Containers) {
		return false
	}
	same := after.Spec.DeepCopy()
	for i := range same.Containers {
		was, is := &old[i].Resources, &same.Containers[i].Resources
		if !withoutRestart(&old[i], was.Requests, is.Requests) || !withoutRestart(&old[i], was.Limits, is.Limits) {
			return false
		}
		is.Requests, is.Limits = was.Requests, was.Limits
	}
	if !equality.Semantic.DeepEqual(before.Spec, *same) {
		return false
	}
	return before.Spec.Resources != nil || podstate.QOSClass(&before.Spec) == podstate.QOSClass(&after.Spec) // spec.resources alone decides the class
}

// withoutRestart tells whether each resource that differs is cpu or memory, and changes without a restart of the container.
func withoutRestart(c *corev1.Container, before, after corev1.ResourceList) bool {
	for _, name := range changed(before, after) {
		if !slices.Contains(podstate.ComputeResources, name) || slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
			return p.ResourceName == name && p.RestartPolicy == corev1.RestartContainer
		}) {
			return false
		}
	}
	return true
}

// changed names what is in one list alone, or with another quantity.
func changed(before, after corev1.ResourceList) (names []corev1.ResourceName) {
	for name, q := range before {
		if other, found := after[name]; !found || q.Cmp(other) != 0 {
			names = append(names, name)
		}
	}
	for name := range after {
		if _, found := before[name]; !found {
			names = append(names, name)
		}
	}
	return names
}
