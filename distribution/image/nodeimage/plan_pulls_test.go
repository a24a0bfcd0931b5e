// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"strings"
	"testing"

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

// attemptOf is the pod of an attempt for a job, on its node.
func attemptOf(job *v1alpha1.ImagePullJob, attempt int32) *corev1.Pod {
	pod := pullPods.pod(job, pullTaskOf(attempt), 600)
	pod.UID, pod.Spec.NodeName = types.UID(pod.Name), "n1"
	return pod
}

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
