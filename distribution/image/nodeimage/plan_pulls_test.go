// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

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

// IMG-4.1: what another tenant has given to the task as sandbox comes onto no pod of a namespace.
func TestPullPodsHaveTheirOwnAnnotations(t *testing.T) {
	sandbox := func(key string) func(*v1alpha1.ImagePullJob) {
		return func(j *v1alpha1.ImagePullJob) {
			j.Namespace = j.Name
			j.Spec.SandboxConfig = &v1alpha1.SandboxConfig{Annotations: map[string]string{key: "yes"}}
		}
	}
	n := with(t, []v1alpha1.ImageTagSpec{task("1", owners("team-a", "team-b")...)})
	image := n.Spec.Images["nginx"]
	image.SandboxConfig = &v1alpha1.SandboxConfig{Annotations: map[string]string{"last": "yes"}}
	n.Spec.Images["nginx"] = image
	s := snapshot(n, job("team-a", sandbox("a")), job("team-b", sandbox("b")))
	s.PullPods = pullPods
	got := map[string]string{}
	for _, pod := range NewPlan(s).Pulls.Create {
		delete(pod.Annotations, v1alpha1.PullPodTaskAnnotation)
		got[pod.Namespace] = fmt.Sprint(pod.Annotations)
	}
	if diff := cmp.Diff(map[string]string{"team-a": "map[a:yes]", "team-b": "map[b:yes]"}, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// IMG-4.1: whatever runs in it has no rights, and it is for one node.
func TestPullPod(t *testing.T) {
	j := job("a."+strings.Repeat("x", 60), func(j *v1alpha1.ImagePullJob) { j.Spec.PullSecrets = []string{"s1", "s2", "s1"} })
	o := &PullPods{PauseImage: "pause:1", Labels: map[string]string{"inject": "no", v1alpha1.PullPodLabel: "mine"}, Annotations: map[string]string{"team": "infra"}}
	j.Spec.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"p2p": "yes", "team": "web"}}
	digest := pullTaskOf(1)
	digest.Tag = "sha256:0123"
	pod := o.pod(j, digest, 600)
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: pod.Name, Labels: map[string]string{"inject": "no", v1alpha1.PullPodLabel: ""},
			Annotations:     map[string]string{"p2p": "yes", "team": "infra", v1alpha1.PullPodTaskAnnotation: `{"node":"n1","image":"nginx","tag":"sha256:0123","version":1,"attempt":1}`},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ImagePullJob", Name: j.Name, UID: j.UID, Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "s1"}, {Name: "s2"}},
			Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}}}}}},
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, RestartPolicy: corev1.RestartPolicyNever,
			ActiveDeadlineSeconds: ptr.To[int64](660), TerminationGracePeriodSeconds: ptr.To[int64](1),
			AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65535), RunAsGroup: ptr.To[int64](65535),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "pause", Image: "pause:1", ImagePullPolicy: corev1.PullIfNotPresent, Resources: o.resources(),
				VolumeMounts: []corev1.VolumeMount{{Name: "image", MountPath: "/image", ReadOnly: true}},
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}},
			Volumes: []corev1.Volume{{Name: "image", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{
				Reference: "nginx@sha256:0123", PullPolicy: corev1.PullIfNotPresent}}}},
		},
	}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	j.Spec.ImagePullPolicy = v1alpha1.ImagePullAlways
	if policy := o.pod(j, digest, 600).Spec.Volumes[0].Image.PullPolicy; policy != corev1.PullAlways {
		t.Errorf("IMG-1.14: pull policy %s", policy)
	}
	if len(pod.Name) > 63 || !strings.HasPrefix(pod.Name, "a.xxx") {
		t.Errorf("name %s", pod.Name)
	}
	names := map[string]bool{}
	for _, other := range []*corev1.Pod{pod, o.pod(j, pullTaskOf(1), 1), o.pod(j, pullTaskOf(2), 1), o.pod(job("b"), pullTaskOf(1), 1)} {
		names[other.Name] = true
	}
	if len(names) != 4 {
		t.Errorf("names %v", names)
	}
}
