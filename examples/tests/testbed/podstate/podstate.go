// SPDX-License-Identifier: Apache-2.0

// Package podstate says in what state a pod is, for tests and demos.
package podstate

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// InService tells whether a pod takes traffic and will go on to. It is Ready, and nothing has been started that takes it
// out, like a deletion or a new image that its kubelet will act on.
func InService(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning ||
		Condition(pod, corev1.PodReady).Status != corev1.ConditionTrue {
		return false
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if Condition(pod, gate.ConditionType).Status != corev1.ConditionTrue {
			return false
		}
	}
	for _, container := range pod.Spec.Containers {
		if !Runs(pod, container.Name) {
			return false
		}
	}
	return true
}

// Ready tells whether a pod runs and is Ready, and no in-place update of its workload is under way.
func Ready(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && Condition(pod, corev1.PodReady).Status == corev1.ConditionTrue &&
		Condition(pod, inplacev1alpha1.InPlaceUpdateReady).Status != corev1.ConditionFalse
}

// Lifecycle is the state of a pod among the hooks of its workload; empty for none.
func Lifecycle(pod *corev1.Pod) lifecyclev1alpha1.StateType {
	return lifecyclev1alpha1.StateType(pod.Labels[lifecyclev1alpha1.StateLabel])
}

// Condition returns a condition of a pod, the zero value if it has none of that type.
func Condition(pod *corev1.Pod, conditionType corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return corev1.PodCondition{}
}

// ContainerStatus returns the status of a container, the zero value if there is none.
func ContainerStatus(pod *corev1.Pod, name string) corev1.ContainerStatus {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == name {
			return status
		}
	}
	return corev1.ContainerStatus{}
}

// Runs tells whether a container is ready with the image that it should have.
func Runs(pod *corev1.Pod, container string) bool {
	status := ContainerStatus(pod, container)
	return status.Ready && status.Image == Image(pod, container)
}

// Describe is a pod in one line.
func Describe(pod *corev1.Pod, gone bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%.8s)", pod.Name, pod.UID)
	switch {
	case gone:
		b.WriteString(" gone")
	case pod.DeletionTimestamp != nil:
		b.WriteString(" terminating")
	}
	fmt.Fprintf(&b, " %s Ready=%s InPlaceUpdateReady=%s KruisePodReady=%s %s %s", pod.Status.Phase,
		Condition(pod, corev1.PodReady).Status, Condition(pod, inplacev1alpha1.InPlaceUpdateReady).Status,
		Condition(pod, lifecyclev1alpha1.KruisePodReady).Status,
		pod.Labels[lifecyclev1alpha1.StateLabel], pod.Labels["controller-revision-hash"])
	for _, container := range pod.Spec.Containers {
		status := ContainerStatus(pod, container.Name)
		fmt.Fprintf(&b, " %s=%s runs %s restarts %d", container.Name, container.Image, status.Image, status.RestartCount)
	}
	return b.String()
}

// Active tells whether a pod has not ended and is not being deleted.
func Active(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// Evicted tells whether a client has evicted a pod by the API, which notes that on it before it goes.
func Evicted(pod *corev1.Pod) bool {
	c := Condition(pod, corev1.DisruptionTarget)
	return c.Status == corev1.ConditionTrue && c.Reason == "EvictionByEvictionAPI"
}

// Image returns the image in the spec of a container, "" if there is none.
func Image(pod *corev1.Pod, name string) string {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == name {
			return c.Image
		}
	}
	return ""
}
