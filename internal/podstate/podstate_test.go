// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEnded(t *testing.T) {
	for phase, ended := range map[corev1.PodPhase]bool{
		"": false, corev1.PodPending: false, corev1.PodRunning: false, corev1.PodUnknown: false, corev1.PodSucceeded: true, corev1.PodFailed: true,
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		if Ended(pod) != ended || Active(pod) == ended {
			t.Errorf("phase %q: ended %t, active %t", phase, Ended(pod), Active(pod))
		}
		pod.DeletionTimestamp = &metav1.Time{}
		if Active(pod) {
			t.Errorf("phase %q, being deleted: active", phase)
		}
	}
}

func TestContainers(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}, {Name: "log", Image: "log:1"}, {Name: "new"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "log", Ready: true}, {Name: "main"}}
	if c := Container(pod, "log"); c != &pod.Spec.Containers[1] {
		t.Errorf("container log: %v", c)
	}
	if s := ContainerStatus(pod, "log"); s != &pod.Status.ContainerStatuses[0] {
		t.Errorf("status of container log: %v", s)
	}
	if c, s := Container(pod, "other"), ContainerStatus(pod, "new"); c != nil || s != nil {
		t.Errorf("container %v, status %v; want none", c, s)
	}
	for name, want := range map[string]bool{"log": true, "main": false, "new": false, "other": false} {
		if got := ContainerReady(pod, name); got != want {
			t.Errorf("container %s is ready: %t, want %t", name, got, want)
		}
	}
}
