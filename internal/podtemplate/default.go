// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Default sets the unset fields of t to their defaults, in place. A second
// call changes nothing. Metadata is not touched.
func Default(t *corev1.PodTemplateSpec) {
	s := &t.Spec
	defaultPod(s)
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
	for i := range s.InitContainers {
		defaultContainer(&s.InitContainers[i], s.HostNetwork)
	}
	for i := range s.Containers {
		set(&s.Containers[i].ImagePullPolicy, corev1.PullAlways)
		defaultContainer(&s.Containers[i], s.HostNetwork)
	}
	for i := range s.EphemeralContainers {
		defaultContainer((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon), false)
	}
}

// DefaultClaim sets the unset fields of a claim template to their defaults, in place.
// They are volumeMode Filesystem, and the phase Pending. The API server sets that phase
// on every claim, so stored claim templates have it.
func DefaultClaim(c *corev1.PersistentVolumeClaim) {
	set(&c.Status.Phase, corev1.ClaimPending)
	roundUp(c.Status.Capacity)
	defaultClaimSpec(&c.Spec)
}

func defaultClaimSpec(s *corev1.PersistentVolumeClaimSpec) {
	setPtr(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	roundUp(s.Resources.Limits)
	roundUp(s.Resources.Requests)
}

func defaultPod(s *corev1.PodSpec) {
	set(&s.DNSPolicy, corev1.DNSClusterFirst)
	set(&s.RestartPolicy, corev1.RestartPolicyAlways)
	set(&s.SchedulerName, corev1.DefaultSchedulerName)
	setPtr(&s.SecurityContext, corev1.PodSecurityContext{})
	setPtr(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	roundUp(s.Overhead)
}

// roundUp rounds quantities up to thousandths, the finest that the API keeps.
func roundUp(list corev1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}

// set gives a field that has its zero value the value v.
func set[T comparable](field *T, v T) {
	var zero T
	if *field == zero {
		*field = v
	}
}

// setPtr gives a field that is nil a pointer to a copy of v.
func setPtr[T any](field **T, v T) {
	if *field == nil {
		*field = &v
	}
}
