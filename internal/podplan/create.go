// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podstate"
)

// NewPod makes a pod of a template, without what its kind adds, and without the labels and annotations that
// controllers own in each pod. Its labels and annotations are not nil. (CT-7)
func (p *Planner) NewPod(name string, template *corev1.PodTemplateSpec) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       p.Workload.Object.GetNamespace(),
			Name:            name,
			Labels:          cloned(podstate.Unowned(template.Labels)),
			Annotations:     cloned(podstate.Unowned(template.Annotations)),
			Finalizers:      slices.Clone(template.Finalizers),
			OwnerReferences: []metav1.OwnerReference{p.Owner()},
		},
		Spec: *template.Spec.DeepCopy(),
	}
}

// NewClaim makes a claim of a template, with the labels that the selector of the
// workload asks for and without an owner. Its labels are not nil.
func (p *Planner) NewClaim(name string, template *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   p.Workload.Object.GetNamespace(),
			Name:        name,
			Labels:      cloned(p.Workload.Selector.MatchLabels),
			Annotations: maps.Clone(template.Annotations),
			Finalizers:  slices.Clone(template.Finalizers),
		},
		Spec: *template.Spec.DeepCopy(),
	}
}

// MountClaim mounts a claim in the place of the volume of that name.
func MountClaim(spec *corev1.PodSpec, volume, claim string) {
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume })
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
}

func cloned(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}
