package cloneset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// deletionProtectionLabel protects an object from deletion: "Always", or
// "Cascading" for as long as it has replicas. Any other value protects from nothing.
const deletionProtectionLabel = "policy.kruise.io/delete-protection"

// ValidateCreate says what is wrong with a new CloneSet, field by field; an
// empty list means it can be created. It takes a set before or after Default:
// an unset field counts as its default.
//
// Of the pod template it knows the rules that a CloneSet adds and the mistakes
// that are made most; the rest is for the API server, see TemplateChecker.
// The names in podsToDelete are for ValidatePodsToDelete.
func ValidateCreate(set *v1alpha1.CloneSet) field.ErrorList {
	path := field.NewPath("spec")
	return append(validateSpec(&set.Spec, path), validateTemplates(&set.Spec, path)...)
}

// ValidateUpdate says what is wrong with the change from the stored set old to
// set, field by field; an empty list means it can be saved.
//
// Only the selector is immutable. A template is judged when it changes, and
// nothing is when the whole spec stays the same: labels, annotations and
// finalizers of a set can always be changed.
func ValidateUpdate(set, old *v1alpha1.CloneSet) field.ErrorList {
	if equality.Semantic.DeepEqual(&set.Spec, &old.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	errs := validateSpec(&set.Spec, path)
	if !equality.Semantic.DeepEqual(set.Spec.Selector, old.Spec.Selector) {
		errs = append(errs, field.Invalid(path.Child("selector"), metav1.FormatLabelSelector(set.Spec.Selector), fmt.Sprintf(
			"the selector is immutable and has to stay %q: create a new CloneSet for other labels", metav1.FormatLabelSelector(old.Spec.Selector))))
	}
	if !templatesChanged(set, old) {
		return errs
	}
	errs = append(errs, validateTemplates(&set.Spec, path)...)
	if set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType {
		errs = append(errs, validateInPlaceOnly(&set.Spec.Template, &old.Spec.Template, path.Child("template"))...)
	}
	return errs
}

// ValidateDelete returns why a CloneSet must not be deleted, nil if it may.
//
// The label policy.kruise.io/delete-protection protects: "Always", or
// "Cascading" while spec.replicas is above 0, whatever pods there are. A set
// that is being deleted already is not protected.
func ValidateDelete(set *v1alpha1.CloneSet) error {
	if set.DeletionTimestamp != nil {
		return nil
	}
	switch protection := set.Labels[deletionProtectionLabel]; protection {
	case "Always":
		return fmt.Errorf("forbidden by ResourcesProtectionDeletion for %s=%s", deletionProtectionLabel, protection)
	case "Cascading":
		if set.Spec.Replicas != nil && *set.Spec.Replicas > 0 {
			return fmt.Errorf("forbidden by ResourcesProtectionDeletion for %s=%s and replicas %d>0", deletionProtectionLabel, protection, *set.Spec.Replicas)
		}
	}
	return nil
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
	errs = append(errs, validateSelector(spec, path)...)
	errs = append(errs, validatePodsToDeleteNames(spec.ScaleStrategy.PodsToDelete, path.Child("scaleStrategy", "podsToDelete"))...)
	return append(errs, validateUpdateStrategy(&spec.UpdateStrategy, replicas, path.Child("updateStrategy"))...)
}

func validateSelector(spec *v1alpha1.CloneSetSpec, path *field.Path) field.ErrorList {
	at := path.Child("selector")
	if spec.Selector == nil {
		return field.ErrorList{field.Required(at, "it says by which labels the pods are found, and must match those of the template")}
	}
	if len(spec.Selector.MatchLabels)+len(spec.Selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Invalid(at, "{}", "must not be empty: it would select every pod of the namespace")}
	}
	errs := metav1validation.ValidateLabelSelector(spec.Selector, metav1validation.LabelSelectorValidationOptions{}, at)
	if len(errs) > 0 {
		return errs
	}
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err != nil {
		return field.ErrorList{field.Invalid(at, metav1.FormatLabelSelector(spec.Selector), err.Error())}
	}
	if !selector.Matches(labels.Set(spec.Template.Labels)) {
		return field.ErrorList{field.Invalid(path.Child("template", "metadata", "labels"), labels.FormatLabels(spec.Template.Labels),
			fmt.Sprintf("must match spec.selector, which is %q", selector.String()))}
	}
	return nil
}
