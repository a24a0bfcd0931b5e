// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// DefaultOptions tunes Default.
type DefaultOptions struct {
	// TemplateNoDefaults leaves the pod template and the claim templates as
	// they were sent. To replace a stored template that has defaults by one
	// without is then a change of the template. Default false.
	TemplateNoDefaults bool
	// ResizeClaims sets spec.volumeClaimUpdateStrategy, too: the type OnDelete. For controllers with Features.ResizeClaims.
	ResizeClaims bool
}

// Default sets the unset fields of a StatefulSet to their defaults, in place.
// Old is the stored set of an update, and nil for a new set.
//
// The pod template is defaulted in a new set, and in an update that changes
// it. Saving anything else never touches it, so it never starts a rollout.
// The claim templates are treated the same way, apart from the pod template.
func Default(set, old *v1beta1.StatefulSet, o DefaultOptions) {
	defaultShared(set, old, o)
	defaultRetention(&set.Spec)
	if o.ResizeClaims {
		defaultClaimUpdate(&set.Spec)
	}
}

// defaultShared sets the defaults of the fields that both versions have.
func defaultShared(set, old *v1beta1.StatefulSet, o DefaultOptions) {
	spec := &set.Spec
	if spec.Replicas == nil {
		spec.Replicas = new(int32(1))
	}
	if spec.RevisionHistoryLimit == nil {
		spec.RevisionHistoryLimit = new(int32(10))
	}
	if spec.PodManagementPolicy == "" {
		spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	defaultUpdateStrategy(&spec.UpdateStrategy)
	if o.TemplateNoDefaults {
		return
	}
	var stored podtemplate.Templates
	if old != nil {
		stored = templates(&old.Spec)
	}
	templates(spec).Default(stored)
}

func defaultUpdateStrategy(s *v1beta1.StatefulSetUpdateStrategy) {
	if s.Type == "" {
		s.Type = appsv1.RollingUpdateStatefulSetStrategyType
	}
	if s.Type != appsv1.RollingUpdateStatefulSetStrategyType {
		return
	}
	if s.RollingUpdate == nil {
		s.RollingUpdate = &v1beta1.RollingUpdateStatefulSetStrategy{}
	}
	rolling := s.RollingUpdate
	if rolling.Partition == nil {
		rolling.Partition = new(int32(0))
	}
	if rolling.MaxUnavailable == nil {
		rolling.MaxUnavailable = new(intstr.FromInt32(1))
	}
	if rolling.PodUpdatePolicy == "" {
		rolling.PodUpdatePolicy = v1beta1.RecreatePodUpdateStrategyType
	}
	if rolling.MinReadySeconds == nil {
		rolling.MinReadySeconds = new(int32(0))
	}
}

// defaultRetention sets the defaults of what only v1beta1 has.
func defaultRetention(spec *v1beta1.StatefulSetSpec) {
	if spec.PersistentVolumeClaimRetentionPolicy == nil {
		spec.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	policy := spec.PersistentVolumeClaimRetentionPolicy
	if policy.WhenDeleted == "" {
		policy.WhenDeleted = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	if policy.WhenScaled == "" {
		policy.WhenScaled = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
}

// defaultClaimUpdate has existing claims stay as they are. (STS-40)
func defaultClaimUpdate(spec *v1beta1.StatefulSetSpec) {
	if spec.VolumeClaimUpdateStrategy == nil {
		spec.VolumeClaimUpdateStrategy = &v1beta1.StatefulSetVolumeClaimUpdateStrategy{}
	}
	if s := spec.VolumeClaimUpdateStrategy; s.Type == "" {
		s.Type = v1beta1.OnDeleteVolumeClaimUpdateStrategyType
	}
}
