// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/podstate"
)

// PullPods has the kubelets of nodes pull images, instead of agents. For every task and every job
// that it belongs to, a pod on the node has the image as a volume. So the kubelet looks at the
// credentials of each job and notes them: pods of others cannot use the image without credentials
// of their own. (IMG-4)
//
// Nothing of the image is run. It takes Kubernetes 1.35, or the feature gate ImageVolume
// of 1.33, and a container runtime that mounts images: containerd 2.1 or CRI-O 1.31.
type PullPods struct {
	// PauseImage is the image of the container that waits until the image is there, such
	// as registry.k8s.io/pause:3.10. It is run without a command, as user 65535, with a
	// file system that it cannot write to. Nodes must be able to pull it, or have it.
	// Required.
	PauseImage string
	// PerNamespace is how many pods that pull images one namespace may have on one node at the
	// same time. Default 5.
	PerNamespace int
	// Resources are those of the container. Default: requests of 1m CPU and 16Mi memory,
	// limits of 50m CPU and 32Mi memory.
	Resources corev1.ResourceRequirements
	// Labels and Annotations are given to all these pods, so that nothing is injected
	// into them, for instance. Those of the controller win. Default: none.
	Labels, Annotations map[string]string
}

const defaultPerNamespace = 5

func (o *PullPods) perNamespace() int {
	if o.PerNamespace <= 0 {
		return defaultPerNamespace
	}
	return o.PerNamespace
}

func (o *PullPods) resources() corev1.ResourceRequirements {
	if o.Resources.Requests != nil || o.Resources.Limits != nil || o.Resources.Claims != nil {
		return o.Resources
	}
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
	}
}

// The names in a pod.
const (
	pullContainer = "pause"
	pullVolume    = "image"
)

// nobody is a user ID that owns no file.
const nobody = 65535

// endReserve is how long, in seconds, a pod outlives its attempt if no client deletes it.
const endReserve = 60

// pod is the pod of an attempt. Its name tells it from all others, so that there is one
// at most however often it is created. (IMG-4.1)
func (o *PullPods) pod(job *v1alpha1.ImagePullJob, task images.PullTask, timeoutSeconds int64) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: pullPodName(job, task), Labels: map[string]string{}, Annotations: map[string]string{},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "ImagePullJob", Name: job.Name, UID: job.UID, Controller: ptr.To(true)}},
	}}
	if sandbox := job.Spec.SandboxConfig; sandbox != nil { // that of the task is of the job that asked last
		maps.Copy(pod.Annotations, podstate.Unowned(sandbox.Annotations)) // labels would have Services and others select the pod
	}
	maps.Copy(pod.Labels, o.Labels)
	maps.Copy(pod.Annotations, o.Annotations)
	pod.Labels[v1alpha1.PullPodLabel] = ""
	pod.Annotations[v1alpha1.PullPodTaskAnnotation] = task.String()
	for _, secret := range job.Spec.PullSecrets {
		if ref := (corev1.LocalObjectReference{Name: secret}); !slices.Contains(pod.Spec.ImagePullSecrets, ref) {
			pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, ref)
		}
	}
	nodefit.Pin(&pod.Spec, task.Node)
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.ActiveDeadlineSeconds = ptr.To(timeoutSeconds + endReserve)
	pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
	pod.Spec.AutomountServiceAccountToken, pod.Spec.EnableServiceLinks = ptr.To(false), ptr.To(false)
	pod.Spec.Volumes = []corev1.Volume{{Name: pullVolume, VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{
		Reference: images.TaskReference(task.Image, task.Tag), PullPolicy: pullPolicy(job)}}}}
	o.restrict(&pod.Spec)
	return pod
}

// pullPolicy is that of the kubelet for the image of a job.
func pullPolicy(job *v1alpha1.ImagePullJob) corev1.PullPolicy {
	if job.Spec.ImagePullPolicy == v1alpha1.ImagePullAlways {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// restrict gives the pod its container, with all that the Pod Security Standard
// "restricted" asks for.
func (o *PullPods) restrict(spec *corev1.PodSpec) {
	spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](nobody), RunAsGroup: ptr.To[int64](nobody),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	spec.Containers = []corev1.Container{{
		Name: pullContainer, Image: o.PauseImage, ImagePullPolicy: corev1.PullIfNotPresent, Resources: o.resources(),
		VolumeMounts: []corev1.VolumeMount{{Name: pullVolume, MountPath: "/image", ReadOnly: true}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}}
}

// longestPrefix is how much of the name of a job stands in those of its pods.
const longestPrefix = 40

func pullPodName(job *v1alpha1.ImagePullJob, task images.PullTask) string {
	sum := sha256.Sum256([]byte(string(job.UID) + task.String()))
	prefix := strings.TrimRight(job.Name[:min(len(job.Name), longestPrefix)], "-.")
	return fmt.Sprintf("%s-%s", prefix, hex.EncodeToString(sum[:])[:16])
}
