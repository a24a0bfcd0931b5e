// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// kind is what errors call a UnitedDeployment.
const kind = "UnitedDeployment"

const (
	oneTemplate     = "must hold exactly one of statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate and deploymentTemplate"
	replicasOf      = "must be absent: spec.replicas and the subsets say it"
	replicasMissing = "must be given, unless each subset gives its replicas as a number"
	partitionOf     = "must be absent: spec.updateStrategy.manualUpdate.partitions says it"
)

// ValidateCreate says what is wrong with a new UnitedDeployment, field by field; an empty list
// means it can be created. It takes one before or after Default: an unset field counts as its
// default. (UD-15)
func ValidateCreate(set *v1alpha1.UnitedDeployment) field.ErrorList {
	return validateCreate(set, false)
}

// validateCreate judges the sum of minReplicas and maxReplicas if they are read.
func validateCreate(set *v1alpha1.UnitedDeployment, adaptive bool) field.ErrorList {
	return slices.Concat(validateSpec(&set.Spec), unworkable(&set.Spec), validateSum(&set.Spec, adaptive))
}

// ValidateUpdate says what is wrong with the change from the stored UnitedDeployment old to set,
// field by field. An empty list means it can be saved.
//
// Nothing is judged when the whole spec stays the same. If the subsets stay the same, their
// replicas need not add up: a writer of spec.replicas alone, as autoscalers are, does not
// know them. (UD-15.2, UD-15.3)
func ValidateUpdate(set, old *v1alpha1.UnitedDeployment) field.ErrorList {
	return validateUpdate(set, old, false)
}

func validateUpdate(set, old *v1alpha1.UnitedDeployment, adaptive bool) field.ErrorList {
	if equality.Semantic.DeepEqual(&set.Spec, &old.Spec) {
		return nil
	}
	errs := append(validateSpec(&set.Spec), validateUnchanged(&set.Spec, &old.Spec)...)
	errs = append(errs, admission.Introduced(unworkable(&set.Spec), unworkable(&old.Spec))...)
	if !equality.Semantic.DeepEqual(asked(&set.Spec, adaptive), asked(&old.Spec, adaptive)) {
		errs = append(errs, validateSum(&set.Spec, adaptive)...)
	}
	return errs
}

// ValidateDelete returns why a UnitedDeployment must not be deleted, nil if it may.
//
// The label policy.kruise.io/delete-protection protects: "Always", or "Cascading" while
// spec.replicas is above 0. If that is absent, the numbers of the subsets count together.
// One that is being deleted already is not protected. (DP-8)
func ValidateDelete(set *v1alpha1.UnitedDeployment) error {
	if set.Spec.Replicas != nil {
		return validation.Deletion(set, set.Spec.Replicas)
	}
	sum, _, _ := givenNumbers(set.Spec.Topology.Subsets)
	return validation.Deletion(set, new(int32(min(sum, math.MaxInt32))))
}

// validateSpec checks everything but the sum of the subsets.
func validateSpec(spec *v1alpha1.UnitedDeploymentSpec) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if n := ptr.Deref(spec.Replicas, 1); n < 0 {
		errs = append(errs, field.Invalid(path.Child("replicas"), n, "must be 0 or more"))
	}
	if _, some, _ := givenNumbers(spec.Topology.Subsets); spec.Replicas == nil && some && !allNumbers(spec.Topology.Subsets) {
		errs = append(errs, field.Required(path.Child("replicas"), replicasMissing))
	}
	errs = append(errs, validateSelector(spec, path.Child("selector"))...)
	errs = append(errs, validateTemplate(&spec.Template, path.Child("template"))...)
	errs = append(errs, validateSubsets(spec.Topology.Subsets, topologyPath)...)
	errs = append(errs, validateAdaptive(&spec.Topology)...)
	errs = append(errs, validatePlaces(spec.Topology.Subsets, topologyPath)...)
	errs = append(errs, validatePatches(spec, topologyPath)...)
	return append(errs, validatePartitions(spec, path.Child("updateStrategy", "manualUpdate", "partitions"))...)
}

// validateSelector checks the selector, and that it selects the pods.
func validateSelector(spec *v1alpha1.UnitedDeploymentSpec, path *field.Path) field.ErrorList {
	if spec.Selector == nil || len(spec.Selector.MatchLabels)+len(spec.Selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Required(path, "must not be empty: it says by which labels workloads and pods are found")}
	}
	if errs := metav1validation.ValidateLabelSelector(spec.Selector, metav1validation.LabelSelectorValidationOptions{}, path); len(errs) > 0 {
		return errs
	}
	match, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err != nil {
		return field.ErrorList{field.Invalid(path, metav1.FormatLabelSelector(spec.Selector), err.Error())}
	}
	name, pods := templateField(&spec.Template), podTemplate(&spec.Template)
	if pods == nil || spec.Template.CloneSetTemplate != nil || match.Matches(labels.Set(pods.Labels)) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "template", name, "spec", "template", "metadata", "labels"), labels.FormatLabels(pods.Labels),
		fmt.Sprintf("must match spec.selector, which is %q", match.String()))}
}

// templateField names the field of the template that is set.
func templateField(t *v1alpha1.SubsetTemplate) string {
	switch {
	case t.StatefulSetTemplate != nil:
		return "statefulSetTemplate"
	case t.AdvancedStatefulSetTemplate != nil:
		return "advancedStatefulSetTemplate"
	case t.CloneSetTemplate != nil:
		return "cloneSetTemplate"
	}
	return "deploymentTemplate"
}

// validateTemplate checks the template. That of CloneSets is not looked into. (UD-15.1)
func validateTemplate(t *v1alpha1.SubsetTemplate, path *field.Path) field.ErrorList {
	kind, ok := kindOf(t)
	if !ok {
		return field.ErrorList{field.Required(path, oneTemplate)}
	}
	path = path.Child(templateField(t), "spec")
	var replicas, partition *int32
	switch kind {
	case CloneSet:
		return nil
	case Deployment:
		replicas = t.DeploymentTemplate.Spec.Replicas
	case StatefulSet:
		spec := &t.StatefulSetTemplate.Spec
		replicas = spec.Replicas
		if s := &spec.UpdateStrategy; s.Type == appsv1.RollingUpdateStatefulSetStrategyType && s.RollingUpdate != nil {
			partition = s.RollingUpdate.Partition
		}
	case AdvancedStatefulSet:
		spec := &t.AdvancedStatefulSetTemplate.Spec
		replicas = spec.Replicas
		if s := &spec.UpdateStrategy; s.Type == appsv1.RollingUpdateStatefulSetStrategyType && s.RollingUpdate != nil {
			partition = s.RollingUpdate.Partition
		}
	}
	errs := validation.Templates(templates(t), string(kind), path)
	if replicas != nil {
		errs = append(errs, field.Forbidden(path.Child("replicas"), replicasOf))
	}
	if partition != nil {
		errs = append(errs, field.Forbidden(path.Child("updateStrategy", "rollingUpdate", "partition"), partitionOf))
	}
	return errs
}

// validateUnchanged names what has changed and must not. (UD-15.2)
func validateUnchanged(spec, old *v1alpha1.UnitedDeploymentSpec) field.ErrorList {
	errs := validation.SelectorUnchanged(spec.Selector, old.Selector, kind, field.NewPath("spec"))
	errs = append(errs, unchangedTemplate(&spec.Template, &old.Template)...)
	before := map[string]*v1alpha1.Subset{}
	for i := range old.Topology.Subsets {
		before[old.Topology.Subsets[i].Name] = &old.Topology.Subsets[i]
	}
	for i := range spec.Topology.Subsets {
		subset, path := &spec.Topology.Subsets[i], topologyPath.Index(i)
		was := before[subset.Name]
		if was == nil {
			continue
		}
		const because = "cannot be changed: remove the subset, and add it in another update"
		if !equality.Semantic.DeepEqual(subset.NodeSelectorTerm, was.NodeSelectorTerm) {
			errs = append(errs, field.Forbidden(path.Child("nodeSelectorTerm"), because))
		}
		if !equality.Semantic.DeepEqual(subset.Tolerations, was.Tolerations) {
			errs = append(errs, field.Forbidden(path.Child("tolerations"), because))
		}
	}
	return errs
}

// unchangedTemplate names what StatefulSets do not let change. Another kind of template is
// another workload.
func unchangedTemplate(t, old *v1alpha1.SubsetTemplate) (errs field.ErrorList) {
	path := field.NewPath("spec", "template", templateField(t), "spec")
	keep := func(name string, same bool) {
		if !same {
			errs = append(errs, field.Forbidden(path.Child(name), "cannot be changed: no StatefulSet lets it change"))
		}
	}
	switch {
	case t.StatefulSetTemplate != nil && old.StatefulSetTemplate != nil:
		spec, was := &t.StatefulSetTemplate.Spec, &old.StatefulSetTemplate.Spec
		keep("serviceName", spec.ServiceName == was.ServiceName)
		keep("podManagementPolicy", managementPolicy(spec.PodManagementPolicy) == managementPolicy(was.PodManagementPolicy))
		keep("volumeClaimTemplates", equality.Semantic.DeepEqual(spec.VolumeClaimTemplates, was.VolumeClaimTemplates))
	case t.AdvancedStatefulSetTemplate != nil && old.AdvancedStatefulSetTemplate != nil:
		spec, was := &t.AdvancedStatefulSetTemplate.Spec, &old.AdvancedStatefulSetTemplate.Spec
		keep("serviceName", spec.ServiceName == was.ServiceName)
		keep("podManagementPolicy", managementPolicy(spec.PodManagementPolicy) == managementPolicy(was.PodManagementPolicy))
	}
	return errs
}

func managementPolicy(policy appsv1.PodManagementPolicyType) appsv1.PodManagementPolicyType {
	if policy == "" {
		return appsv1.OrderedReadyPodManagement
	}
	return policy
}
