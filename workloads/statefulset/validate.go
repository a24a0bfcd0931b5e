// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// kind is what errors call a StatefulSet.
const kind = "StatefulSet"

// ValidateCreate says what is wrong with a new StatefulSet, field by field; an
// empty list means it can be created. It takes a set before or after Default:
// an unset field counts as its default.
//
// Of the pod template it knows the rules that a StatefulSet adds and the
// mistakes that are made most. The rest is for the API server, see
// workloads.DryRun.
func ValidateCreate(set *v1beta1.StatefulSet) field.ErrorList {
	return validateCreate(set, Features{})
}

func validateCreate(set *v1beta1.StatefulSet, features Features) field.ErrorList {
	path := field.NewPath("spec")
	errs := append(validateName(set.Name), validateSpec(&set.Spec, path, features)...)
	errs = append(errs, unworkable(&set.Spec, path, features)...)
	return append(errs, validation.Templates(templates(&set.Spec), kind, path)...)
}

// ValidateUpdate says what is wrong with the change from the stored set old to
// set, field by field. An empty list means it can be saved.
//
// The selector, serviceName and podManagementPolicy are immutable. A template
// is judged when it changes, and nothing is when the whole spec stays the same.
// Labels, annotations and finalizers of a set can always be changed.
//
// With podUpdatePolicy InPlaceOnly cpu and memory of containers cannot change; if the
// controller changes them in place, see Webhook.InPlaceResize.
func ValidateUpdate(set, old *v1beta1.StatefulSet) field.ErrorList {
	return validateUpdate(set, old, Features{}, inplace.CalculateOptions{})
}

func validateUpdate(set, old *v1beta1.StatefulSet, features Features, o inplace.CalculateOptions) field.ErrorList {
	if equality.Semantic.DeepEqual(&set.Spec, &old.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	errs := append(validateSpec(&set.Spec, path, features), validateImmutable(&set.Spec, &old.Spec, path)...)
	errs = append(errs, validateResize(&set.Spec, &old.Spec, path, features)...)
	errs = append(errs, admission.Introduced(unworkable(&set.Spec, path, features), unworkable(&old.Spec, path, features))...)
	if templates(&set.Spec).Equal(templates(&old.Spec)) {
		return errs
	}
	errs = append(errs, validation.Templates(templates(&set.Spec), kind, path)...)
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType {
		errs = append(errs, validation.InPlaceOnly(&set.Spec.Template, &old.Spec.Template, "updateStrategy.rollingUpdate.podUpdatePolicy", path.Child("template"), o)...)
	}
	return errs
}

// ValidateDelete returns why a StatefulSet must not be deleted, nil if it may.
//
// The label policy.kruise.io/delete-protection protects: "Always", or
// "Cascading" while spec.replicas is above 0, whatever pods there are. A set
// that is being deleted already is not protected.
func ValidateDelete(set *v1beta1.StatefulSet) error {
	return validation.Deletion(set, set.Spec.Replicas)
}

// longestName leaves room for a dash and an ordinal in the names of pods, which are the values of a label, and host names.
const longestName = utilvalidation.DNS1123LabelMaxLength - 2

// validateName refuses a name with which the API server takes no pod. The empty name is right: one is to be generated. (STS-V8)
func validateName(name string) field.ErrorList {
	if name == "" || len(name) <= longestName && len(utilvalidation.IsDNS1123Label(name)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), name, fmt.Sprintf(
		"must be at most %d lower case letters, digits and dashes: with an ordinal it is the name of a host and the value of a label", longestName))}
}

// unworkable refuses values that OpenKruise takes and that never work: the API server takes no pod, or a hook never holds one. (STS-V8)
func unworkable(spec *v1beta1.StatefulSetSpec, path *field.Path, features Features) (errs field.ErrorList) {
	errs = validation.Subdomain(spec.ServiceName, path.Child("serviceName"))
	if s := spec.VolumeClaimUpdateStrategy; s != nil {
		errs = append(errs, validation.Enum(s.Type, path.Child("volumeClaimUpdateStrategy", "type"),
			v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType, v1beta1.OnDeleteVolumeClaimUpdateStrategyType)...)
	}
	return append(errs, validateHooks(spec.Lifecycle, path.Child("lifecycle"), features)...)
}

// validateHooks refuses hooks that no pod can have, of those that have an effect. (STS-36)
func validateHooks(hooks *lifecyclev1alpha1.Lifecycle, path *field.Path, features Features) field.ErrorList {
	known := []string{"preDelete", "inPlaceUpdate"}
	if features.PreNormal {
		known = append(known, "preNormal")
	}
	return validation.Lifecycle(hooks, path, known...)
}

// templates are what a StatefulSet makes its pods of.
func templates(spec *v1beta1.StatefulSetSpec) podtemplate.Templates {
	return podtemplate.Templates{Pod: &spec.Template, Claims: spec.VolumeClaimTemplates}
}

// validateSpec checks everything but the templates.
func validateSpec(spec *v1beta1.StatefulSetSpec, path *field.Path, features Features) field.ErrorList {
	var errs field.ErrorList
	if spec.Replicas != nil && *spec.Replicas < 0 {
		errs = append(errs, field.Invalid(path.Child("replicas"), *spec.Replicas, "must be 0 or more"))
	}
	if spec.Replicas != nil && *spec.Replicas > mostReplicas {
		errs = append(errs, field.Invalid(path.Child("replicas"), *spec.Replicas, fmt.Sprintf("must be %d or less", mostReplicas)))
	}
	errs = append(errs, validation.Selector(spec.Selector, spec.Template.Labels, path)...)
	errs = append(errs, validation.Enum(spec.PodManagementPolicy, path.Child("podManagementPolicy"),
		appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)...)
	errs = append(errs, validateOrdinals(spec, path, features)...)
	if scale := spec.ScaleStrategy; scale != nil {
		errs = append(errs, validateMaxUnavailable(scale.MaxUnavailable, spec.PodManagementPolicy, path.Child("scaleStrategy", "maxUnavailable"))...)
	}
	errs = append(errs, validateRetention(spec.PersistentVolumeClaimRetentionPolicy, path.Child("persistentVolumeClaimRetentionPolicy"))...)
	return append(errs, validateUpdateStrategy(spec, path.Child("updateStrategy"))...)
}

func validateRetention(policy *v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	const retain, remove = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	return append(validation.Enum(policy.WhenDeleted, path.Child("whenDeleted"), retain, remove),
		validation.Enum(policy.WhenScaled, path.Child("whenScaled"), retain, remove)...)
}

// validateImmutable names what has changed and must not. Every other field of
// the spec may change.
func validateImmutable(spec, old *v1beta1.StatefulSetSpec, path *field.Path) field.ErrorList {
	errs := validation.SelectorUnchanged(spec.Selector, old.Selector, kind, path)
	if spec.ServiceName != old.ServiceName {
		errs = append(errs, field.Invalid(path.Child("serviceName"), spec.ServiceName, fmt.Sprintf(
			"the service name is immutable and has to stay %q: create a new StatefulSet for another service", old.ServiceName)))
	}
	if was := managementPolicy(old); managementPolicy(spec) != was {
		errs = append(errs, field.Invalid(path.Child("podManagementPolicy"), managementPolicy(spec), fmt.Sprintf(
			"the policy is immutable and has to stay %q: create a new StatefulSet for another policy", was)))
	}
	return errs
}

func managementPolicy(spec *v1beta1.StatefulSetSpec) appsv1.PodManagementPolicyType {
	return cmp.Or(spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
}
