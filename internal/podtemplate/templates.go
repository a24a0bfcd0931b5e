// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Templates are what a workload makes its pods of. They point into the spec of
// the workload.
type Templates struct {
	Pod *corev1.PodTemplateSpec
	// Claims are volumes of every pod; one takes the place of a volume of the
	// same name. Nil for a workload that has no claim templates.
	Claims []corev1.PersistentVolumeClaim
}

// Default sets the unset fields of new templates, and of changed ones, to their
// defaults, in place. Stored is what the workload has now; its zero value
// stands for a new workload.
//
// A pod template that means the same as the stored one is left unchanged, so
// that saving anything else never starts a rollout. The claim templates are
// treated the same way, apart from the pod template.
func (t Templates) Default(stored Templates) {
	if !equality.Semantic.DeepEqual(t.Pod, stored.Pod) {
		Default(t.Pod)
	}
	if equality.Semantic.DeepEqual(t.Claims, stored.Claims) {
		return
	}
	for i := range t.Claims {
		DefaultClaim(&t.Claims[i])
	}
}

// Equal tells whether both mean the same: nil and empty lists do.
func (t Templates) Equal(other Templates) bool {
	return equality.Semantic.DeepEqual(t.Pod, other.Pod) && equality.Semantic.DeepEqual(t.Claims, other.Claims)
}

// WithClaims returns the pod template as pods get it, with the claims as
// volumes, in a copy that shares what it does not change. The map leads from
// the index of such a volume to that of its claim template.
func (t Templates) WithClaims() (*corev1.PodTemplateSpec, map[int]int) {
	template := *t.Pod
	template.Spec.Volumes = slices.Clone(template.Spec.Volumes)
	claims := make(map[int]int, len(t.Claims))
	for i := range t.Claims {
		name := t.Claims[i].Name
		volume := corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}
		at := slices.IndexFunc(template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
		if at < 0 {
			at = len(template.Spec.Volumes)
			template.Spec.Volumes = append(template.Spec.Volumes, volume)
		}
		template.Spec.Volumes[at] = volume
		claims[at] = i
	}
	return &template, claims
}
