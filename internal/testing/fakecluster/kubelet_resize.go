// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// ResizeInProgress says that a resize is allocated, and its containers get it in a later step.
const ResizeInProgress = "InProgress"

// resize gives the containers of a pod the cpu and memory of its spec, as far as the node has them. It returns the
// names of the containers that restart for that. The statuses are those before.
func (k *Kubelet) resize(pod *corev1.Pod, statuses map[string]corev1.ContainerStatus) (restarts map[string]bool) {
	if k.Resize == nil {
		return nil
	}
	if pod.Status.ObservedGeneration = pod.Generation; !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return differs(&c, statuses) }) {
		k.resizeCondition(pod, "", "")
		return nil
	}
	switch reason := k.Resize(pod); reason {
	case "":
		k.resizeCondition(pod, "", "")
	case ResizeInProgress:
		k.resizeCondition(pod, corev1.PodResizeInProgress, "")
		return nil
	default:
		k.resizeCondition(pod, corev1.PodResizePending, reason)
		return nil
	}
	restarts = map[string]bool{}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if !differs(c, statuses) {
			continue
		}
		s := statuses[c.Name]
		restarts[c.Name] = slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
			return p.RestartPolicy == corev1.RestartContainer && changes(p.ResourceName, *s.Resources, c.Resources)
		})
		s.Resources = c.Resources.DeepCopy()
		statuses[c.Name] = s
	}
	return restarts
}

// differs tells whether a container that was started has other resources than its spec.
func differs(c *corev1.Container, statuses map[string]corev1.ContainerStatus) bool {
	s, found := statuses[c.Name]
	return found && s.Resources != nil && !equality.Semantic.DeepEqual(*s.Resources, c.Resources)
}

func changes(name corev1.ResourceName, before, after corev1.ResourceRequirements) bool {
	limit, request := before.Limits[name], before.Requests[name]
	return limit.Cmp(after.Limits[name]) != 0 || request.Cmp(after.Requests[name]) != 0
}

// resizeCondition sets the condition about a resize, and removes the other one; with an empty
// type it removes both.
func (k *Kubelet) resizeCondition(pod *corev1.Pod, t corev1.PodConditionType, reason string) {
	pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type != t && (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress)
	})
	if t == "" {
		return
	}
	c := k.SetCondition(pod, t, corev1.ConditionTrue)
	c.Reason, c.ObservedGeneration = reason, pod.Generation
}
