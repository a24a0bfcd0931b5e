// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DefaultOptions tunes Default.
type DefaultOptions struct {
	// TemplateNoDefaults leaves the pod template and the claim templates as
	// they were sent. To replace a stored template that has defaults by one
	// without is then a change of the template. Default false.
	TemplateNoDefaults bool
}

// Default sets the unset fields of a CloneSet to their defaults, in place. Old
// is the stored set of an update, and nil for a new set.
//
// The pod template is defaulted in a new set, and in an update that changes
// it. Saving anything else never touches it, so it never starts a rollout.
// The claim templates are treated the same way, apart from the pod template.
func Default(set, old *v1alpha1.CloneSet, o DefaultOptions) {
	spec := &set.Spec
	if spec.Replicas == nil {
		spec.Replicas = new(int32(1))
	}
	if spec.RevisionHistoryLimit == nil {
		spec.RevisionHistoryLimit = new(int32(10))
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

func defaultUpdateStrategy(s *v1alpha1.CloneSetUpdateStrategy) {
	if s.Type == "" {
		s.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
	}
	if s.Partition == nil {
		s.Partition = new(intstr.FromInt32(0))
	}
	if s.MaxUnavailable == nil {
		s.MaxUnavailable = new(intstr.FromString(v1alpha1.DefaultCloneSetMaxUnavailable))
	}
	if s.MaxSurge == nil {
		s.MaxSurge = new(intstr.FromInt32(0))
	}
	inPlace := s.Type == v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType || s.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
	if inPlace && s.InPlaceUpdateStrategy == nil {
		s.InPlaceUpdateStrategy = &inplacev1alpha1.InPlaceUpdateStrategy{}
	}
}
