// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// kind is what errors call a CloneSet.
const kind = "CloneSet"

// ValidateCreate says what is wrong with a new CloneSet, field by field; an
// empty list means it can be created. It takes a set before or after Default:
// an unset field counts as its default.
//
// Of the pod template it knows the rules that a CloneSet adds and the mistakes
// that are made most. The rest is for the API server, see workloads.DryRun.
// The names in podsToDelete are for ValidatePodsToDelete.
func ValidateCreate(set *v1alpha1.CloneSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := append(validateSpec(&set.Spec, path), unworkable(&set.Spec, path)...)
	return append(errs, validation.Templates(templates(&set.Spec), kind, path)...)
}

// ValidateUpdate says what is wrong with the change from the stored set old to
// set, field by field. An empty list means it can be saved.
//
// Only the selector is immutable. A template is judged when it changes, and
// nothing is when the whole spec stays the same. Labels, annotations and
// finalizers of a set can always be changed.
//
// With type InPlaceOnly cpu and memory of containers cannot change; if the controller
// changes them in place, see Webhook.InPlaceResize.
func ValidateUpdate(set, old *v1alpha1.CloneSet) field.ErrorList {
	return validateUpdate(set, old, inplace.CalculateOptions{})
}

func validateUpdate(set, old *v1alpha1.CloneSet, o inplace.CalculateOptions) field.ErrorList {
	if equality.Semantic.DeepEqual(&set.Spec, &old.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	errs := validateSpec(&set.Spec, path)
	errs = append(errs, admission.Introduced(unworkable(&set.Spec, path), unworkable(&old.Spec, path))...)
	errs = append(errs, validation.SelectorUnchanged(set.Spec.Selector, old.Spec.Selector, kind, path)...)
	if templates(&set.Spec).Equal(templates(&old.Spec)) {
		return errs
	}
	errs = append(errs, validation.Templates(templates(&set.Spec), kind, path)...)
	if set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType {
		errs = append(errs, validation.InPlaceOnly(&set.Spec.Template, &old.Spec.Template, "updateStrategy.type", path.Child("template"), o)...)
	}
	return errs
}

// ValidateDelete returns why a CloneSet must not be deleted, nil if it may.
//
// The label policy.kruise.io/delete-protection protects: "Always", or
// "Cascading" while spec.replicas is above 0, whatever pods there are. A set
// that is being deleted already is not protected.
func ValidateDelete(set *v1alpha1.CloneSet) error {
	return validation.Deletion(set, set.Spec.Replicas)
}

// templates are what a CloneSet makes its pods of.
func templates(spec *v1alpha1.CloneSetSpec) podtemplate.Templates {
	return podtemplate.Templates{Pod: &spec.Template, Claims: spec.VolumeClaimTemplates}
}

// validateProgressDeadline checks that a pod can become available before the deadline. (CS-V5)
func validateProgressDeadline(spec *v1alpha1.CloneSetSpec, path *field.Path) field.ErrorList {
	deadline := spec.ProgressDeadlineSeconds
	if deadline == nil || *deadline > 0 && *deadline > spec.MinReadySeconds {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *deadline, fmt.Sprintf("must be 1 or more, and greater than minReadySeconds, %d", spec.MinReadySeconds))}
}

// unworkable refuses values that OpenKruise takes and that never work: no pod is created, or a hook never holds one. (CS-V10)
func unworkable(spec *v1alpha1.CloneSetSpec, path *field.Path) (errs field.ErrorList) {
	errs = validation.Number(spec.ScaleStrategy.MaxUnavailable, path.Child("scaleStrategy", "maxUnavailable"))
	return append(errs, validation.Lifecycle(spec.Lifecycle, path.Child("lifecycle"), validation.Hooks...)...)
}

// validateSpec checks everything but the templates.
func validateSpec(spec *v1alpha1.CloneSetSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	replicas := int32(1)
	if spec.Replicas != nil {
		replicas = *spec.Replicas
	}
	if replicas < 0 {
		errs = append(errs, field.Invalid(path.Child("replicas"), replicas, "must be 0 or more"))
	}
	errs = append(errs, validateProgressDeadline(spec, path.Child("progressDeadlineSeconds"))...)
	errs = append(errs, validation.Selector(spec.Selector, spec.Template.Labels, path)...)
	errs = append(errs, validatePodsToDeleteNames(spec.ScaleStrategy.PodsToDelete, path.Child("scaleStrategy", "podsToDelete"))...)
	return append(errs, validateUpdateStrategy(&spec.UpdateStrategy, replicas, path.Child("updateStrategy"))...)
}
