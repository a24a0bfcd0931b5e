// SPDX-License-Identifier: Apache-2.0

// Package podstate reads pods: what one container of them is, and whether they have ended. It also writes texts of their records.
//
// It needs API types alone, so that every package may use it.
package podstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Ended tells whether a pod will never run again.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Active tells whether a pod has not ended and is not being deleted.
func Active(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && !Ended(pod) }

// NeverReady tells whether a pod has surely not been ready for a moment since a time. That is the time of its creation or of
// its last update in place. Then its kubelet has reported nothing, no container has run, or it has been reported as not
// ready since then, to the second. Before its kubelet took it, it cannot have been ready: it may have waited for a node for
// long.
func NeverReady(pod *corev1.Pod, since time.Time) bool {
	if taken := pod.Status.StartTime; taken != nil && taken.After(since) {
		since = taken.Time
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status != corev1.ConditionTrue && (!hasRun(pod) || c.LastTransitionTime.Sub(since) <= time.Second)
		}
	}
	return true
}

// hasRun tells whether a container of a pod runs or has run, other than init containers, which make no pod ready.
func hasRun(pod *corev1.Pod) bool { return AnyRan(pod.Status.ContainerStatuses) }

// AnyRan tells whether one of some containers runs or has run.
func AnyRan(statuses []corev1.ContainerStatus) bool {
	for i := range statuses {
		s := &statuses[i]
		if s.ContainerID != "" || s.State.Running != nil || s.RestartCount > 0 || s.State.Terminated != nil && !s.State.Terminated.StartedAt.IsZero() {
			return true
		}
	}
	return false
}

// Container is the container of a pod with a name, nil if there is none. It points into
// the pod.
func Container(pod *corev1.Pod, name string) *corev1.Container {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == name {
			return &pod.Spec.Containers[i]
		}
	}
	return nil
}

// ContainerStatus is the status of the container with a name, nil if the kubelet has not
// reported on it. It points into the pod.
func ContainerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == name {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}

// IsNative tells whether an init container is a native sidecar: one that goes on while the containers of the pod run.
func IsNative(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// Lasting is the container with a name, or the native sidecar; nil if the pod has neither. It points into the pod.
func Lasting(pod *corev1.Pod, name string) *corev1.Container {
	if c := Container(pod, name); c != nil {
		return c
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.Name == name && IsNative(c) {
			return c
		}
	}
	return nil
}

// LastingStatus is the status of what Lasting finds, nil if the kubelet has not reported on it. It points into the pod.
func LastingStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	if status := ContainerStatus(pod, name); status != nil {
		return status
	}
	for i := range pod.Status.InitContainerStatuses {
		if pod.Status.InitContainerStatuses[i].Name == name {
			return &pod.Status.InitContainerStatuses[i]
		}
	}
	return nil
}

// LastingReady tells whether a container or native sidecar is ready. A native sidecar is not before its startup probe succeeds.
func LastingReady(pod *corev1.Pod, name string) bool {
	status := LastingStatus(pod, name)
	return status != nil && status.Ready
}

// ContainerReady tells whether the container with a name is ready.
func ContainerReady(pod *corev1.Pod, name string) bool {
	status := ContainerStatus(pod, name)
	return status != nil && status.Ready
}

// Pick returns the labels or annotations that have one of the keys, nil for none.
func Pick(from map[string]string, keys ...string) (kept map[string]string) {
	for _, key := range keys {
		if value, found := from[key]; found {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

// Renamed tells whether an image is another one under the name of another registry, such as a mirror: path and tag are the same.
func Renamed(of, image string) bool {
	registry, path, found := strings.Cut(of, "/")
	if !found || !strings.ContainsAny(registry, ".:") && registry != "localhost" {
		path = of
	}
	return of != image && strings.HasSuffix(image, "/"+path)
}
