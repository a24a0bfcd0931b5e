// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

var pullPods = &PullPods{PauseImage: "pause:1"}

// pullTaskOf is an attempt at the task of nginx:1.
func pullTaskOf(attempt int32) images.PullTask {
	return images.PullTask{Node: "n1", Image: "nginx", Tag: "1", Version: 1, Attempt: attempt}
}

// attemptOf is the pod of an attempt for a job, on its node, of an age.
func attemptOf(job *v1alpha1.ImagePullJob, attempt int32, age time.Duration, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := pullPods.pod(job, pullTaskOf(attempt), 600)
	pod.UID, pod.CreationTimestamp, pod.Spec.NodeName = types.UID(pod.Name), at(age), "n1"
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func container(status corev1.ContainerStatus) func(*corev1.Pod) {
	status.Name = pullContainer
	return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{status} }
}

func waits(reason, message string) func(*corev1.Pod) {
	return container(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}})
}

var (
	runs    = container(corev1.ContainerStatus{ContainerID: "containerd://1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	ends    = container(corev1.ContainerStatus{ContainerID: "containerd://1", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}})
	unknown = container(corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "ContainerStatusUnknown"}}})
	evicted = func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.Reason, pod.Status.Message = corev1.PodFailed, "Evicted", "no disk"
	}
	deleted  = func(pod *corev1.Pod) { pod.DeletionTimestamp = new(at(0)) }
	homeless = func(pod *corev1.Pod) {
		pod.Spec.NodeName = ""
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "too many pods"}}
	}
)

// IMG-4.1: the name of a pod is short, and tells it from all others.
func TestPullPodName(t *testing.T) {
	long, names := job("a."+strings.Repeat("x", 60)), map[string]bool{}
	digest := pullTaskOf(1)
	digest.Tag = "sha256:0123"
	for _, pod := range []*corev1.Pod{
		pullPods.pod(long, digest, 600), pullPods.pod(long, pullTaskOf(1), 1), pullPods.pod(long, pullTaskOf(2), 1), pullPods.pod(job("b"), pullTaskOf(1), 1),
	} {
		if names[pod.Name] = true; len(pod.Name) > 63 || !strings.HasPrefix(pod.Name, "a.xxx") && !strings.HasPrefix(pod.Name, "b-") {
			t.Errorf("name %s", pod.Name)
		}
	}
	if len(names) != 4 {
		t.Errorf("names %v", names)
	}
}
