// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Of init containers images count, and what native sidecars run; not how far those are that end.
func TestNativeSidecarsChange(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "setup", Image: "setup:1"}, {Name: "proxy", Image: "proxy:1", RestartPolicy: &always}}},
		Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "setup"},
			{Name: "proxy", Image: "proxy:1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
	}
	for _, test := range []struct {
		name   string
		change func(spec []corev1.Container, status []corev1.ContainerStatus)
		want   bool
	}{
		{"nothing", func([]corev1.Container, []corev1.ContainerStatus) {}, false},
		{"the image of one that ends", func(spec []corev1.Container, _ []corev1.ContainerStatus) { spec[0].Image = "setup:2" }, true},
		{"the image of a native sidecar", func(spec []corev1.Container, _ []corev1.ContainerStatus) { spec[1].Image = "proxy:2" }, true},
		{"one that ends is ready", func(_ []corev1.Container, status []corev1.ContainerStatus) { status[0].Ready = true }, false},
		{"one that ends runs", func(_ []corev1.Container, status []corev1.ContainerStatus) {
			status[0].State.Running = &corev1.ContainerStateRunning{}
		}, false},
		{"a native sidecar is ready", func(_ []corev1.Container, status []corev1.ContainerStatus) { status[1].Ready = true }, true},
		{"a native sidecar runs another image", func(_ []corev1.Container, status []corev1.ContainerStatus) { status[1].ImageID = "id" }, true},
		{"a native sidecar stops", func(_ []corev1.Container, status []corev1.ContainerStatus) { status[1].State.Running = nil }, true},
		{"a native sidecar starts to run", func(_ []corev1.Container, status []corev1.ContainerStatus) { status[1].Name = "other" }, true},
	} {
		after := pod.DeepCopy()
		test.change(after.Spec.InitContainers, after.Status.InitContainerStatuses)
		if got := Changed(pod, after, NativeSidecars) == NativeSidecars; got != test.want {
			t.Errorf("%s: changed %t, want %t", test.name, got, test.want)
		}
	}
}
