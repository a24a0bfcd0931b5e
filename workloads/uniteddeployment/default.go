// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DefaultOptions tunes Default.
type DefaultOptions struct {
	// TemplateNoDefaults leaves the pod template and the claim templates as they were
	// sent. To replace a stored template that has defaults by one without is then a change of
	// the template. Default false.
	TemplateNoDefaults bool
}

// Default sets the unset fields of a UnitedDeployment to their defaults, in place. Old is the
// stored one of an update, and nil for a new one.
//
// Of the templates only that of StatefulSets of apps/v1 is defaulted, in a new UnitedDeployment
// and in an update that changes it. Saving anything else never starts a rollout. (UD-14)
func Default(set, old *v1alpha1.UnitedDeployment, o DefaultOptions) {
	spec := &set.Spec
	defaultReplicas(set, old)
	if spec.RevisionHistoryLimit == nil {
		spec.RevisionHistoryLimit = new(int32(10))
	}
	if spec.UpdateStrategy.Type == "" {
		spec.UpdateStrategy.Type = v1alpha1.ManualUpdateStrategyType
	}
	if spec.UpdateStrategy.Type == v1alpha1.ManualUpdateStrategyType && spec.UpdateStrategy.ManualUpdate == nil {
		spec.UpdateStrategy.ManualUpdate = &v1alpha1.ManualUpdate{}
	}
	if o.TemplateNoDefaults || spec.Template.StatefulSetTemplate == nil {
		return
	}
	var stored podtemplate.Templates
	if old != nil && old.Spec.Template.StatefulSetTemplate != nil {
		stored = templates(&old.Spec.Template)
	}
	templates(&spec.Template).Default(stored)
}

// defaultReplicas sets replicas that are absent, unless subsets give numbers: their sum counts then.
// An update that leaves them out keeps them: no default scales pods in. (UD-3.4)
func defaultReplicas(set, old *v1alpha1.UnitedDeployment) {
	if _, some, _ := givenNumbers(set.Spec.Topology.Subsets); set.Spec.Replicas != nil {
		return
	} else if old != nil && old.Spec.Replicas != nil && !allNumbers(set.Spec.Topology.Subsets) {
		set.Spec.Replicas = new(*old.Spec.Replicas)
	} else if !some {
		set.Spec.Replicas = new(int32(1))
	}
}

// templates are what the pods of a template are made of.
func templates(t *v1alpha1.SubsetTemplate) podtemplate.Templates {
	pods := podtemplate.Templates{Pod: podTemplate(t)}
	switch {
	case t.StatefulSetTemplate != nil:
		pods.Claims = t.StatefulSetTemplate.Spec.VolumeClaimTemplates
	case t.AdvancedStatefulSetTemplate != nil:
		pods.Claims = t.AdvancedStatefulSetTemplate.Spec.VolumeClaimTemplates
	case t.CloneSetTemplate != nil:
		pods.Claims = t.CloneSetTemplate.Spec.VolumeClaimTemplates
	}
	return pods
}
