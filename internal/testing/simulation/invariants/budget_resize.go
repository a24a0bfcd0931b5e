// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// resizes tells whether an update is a resize. Cpu and memory of regular containers change, and no more of the spec. None of the
// containers restarts for that. The pod does not come to be held out, keeps its QoS class, and is not a static one. (PUB-19)
func (a *Answer) resizes() bool {
	before, _ := a.Truth("pods", a.Name)[0].(*corev1.Pod)
	after, _ := a.After.(*corev1.Pod)
	if a.Operation != "UPDATE" || before == nil || after == nil || equality.Semantic.DeepEqual(before.Spec, after.Spec) || !heldOut(before) && heldOut(after) {
		return false
	}
	if _, static := before.Annotations[corev1.MirrorPodAnnotationKey]; static || qosOf(before) != qosOf(after) || len(before.Spec.Containers) != len(after.Spec.Containers) {
		return false
	}
	same := after.DeepCopy()
	for i := range same.Spec.Containers {
		was := &before.Spec.Containers[i]
		if !resizedInPlace(was, &same.Spec.Containers[i]) {
			return false
		}
		same.Spec.Containers[i].Resources.Requests, same.Spec.Containers[i].Resources.Limits = was.Resources.Requests, was.Resources.Limits
	}
	return equality.Semantic.DeepEqual(before.Spec, same.Spec)
}

// resizedInPlace tells whether each resource that changes in a container, comes or goes is cpu or memory and needs no restart.
func resizedInPlace(before, after *corev1.Container) bool {
	for _, lists := range [][2]corev1.ResourceList{{before.Resources.Requests, after.Resources.Requests}, {before.Resources.Limits, after.Resources.Limits}} {
		names := maps.Clone(lists[0])
		if names == nil {
			names = corev1.ResourceList{}
		}
		maps.Copy(names, lists[1])
		for name := range names {
			was, had := lists[0][name]
			is, has := lists[1][name]
			restarts := slices.Contains(after.ResizePolicy, corev1.ContainerResizePolicy{ResourceName: name, RestartPolicy: corev1.RestartContainer})
			if (had != has || was.Cmp(is) != 0) && (restarts || name != corev1.ResourceCPU && name != corev1.ResourceMemory) {
				return false
			}
		}
	}
	return true
}

// qosOf is the QoS class of a pod whose resources are its containers'.
func qosOf(pod *corev1.Pod) corev1.PodQOSClass {
	class := corev1.PodQOSGuaranteed
	some := false
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, request := c.Resources.Limits[name], c.Resources.Requests[name]
			some = some || !limit.IsZero() || !request.IsZero()
			if limit.IsZero() || !request.IsZero() && request.Cmp(limit) != 0 {
				class = corev1.PodQOSBurstable
			}
		}
	}
	if !some {
		return corev1.PodQOSBestEffort
	}
	return class
}
