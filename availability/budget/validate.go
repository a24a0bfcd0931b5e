// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
)

// ValidateCreate says what is wrong with a new budget, field by field; an empty list means that
// it can be created. Others are for Conflict to judge. (PUB-22)
func ValidateCreate(b *v1alpha1.PodUnavailableBudget) field.ErrorList {
	errs := append(validateAnnotations(b, annotationsPath), unworkable(b)...)
	return append(errs, validateSpec(&b.Spec, field.NewPath("spec"))...)
}

// ValidateUpdate says what is wrong with the change from the stored budget old to b; an
// empty list means that it can be saved. (PUB-22)
func ValidateUpdate(b, old *v1alpha1.PodUnavailableBudget) field.ErrorList {
	errs := append(validateAnnotations(b, annotationsPath), admission.Introduced(unworkable(b), unworkable(old))...)
	errs = append(errs, validateSpec(&b.Spec, field.NewPath("spec"))...)
	if !equality.Semantic.DeepEqual(b.Spec.Selector, old.Spec.Selector) || !equality.Semantic.DeepEqual(b.Spec.TargetReference, old.Spec.TargetReference) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "selector and targetRef cannot be modified"))
	}
	return errs
}

var annotationsPath = field.NewPath("metadata", "annotations")

// unworkable refuses a negative number of pods, of which nothing is ever protected. OpenKruise takes it. (PUB-41)
func unworkable(b *v1alpha1.PodUnavailableBudget) field.ErrorList {
	total := b.Annotations[v1alpha1.PubProtectTotalReplicasAnnotation]
	if n, err := strconv.ParseInt(total, 10, 32); err != nil || n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(annotationsPath.Key(v1alpha1.PubProtectTotalReplicasAnnotation), total, "must be 0 or more: it is a number of pods")}
}

func validateAnnotations(b *v1alpha1.PodUnavailableBudget, path *field.Path) (errs field.ErrorList) {
	known := []v1alpha1.PubOperation{v1alpha1.PubDeleteOperation, v1alpha1.PubUpdateOperation, v1alpha1.PubEvictOperation, v1alpha1.PubResizeOperation}
	if list, found := b.Annotations[v1alpha1.PubProtectOperationAnnotation]; found {
		for operation := range strings.SplitSeq(list, ",") {
			if !slices.Contains(known, v1alpha1.PubOperation(operation)) {
				errs = append(errs, field.Invalid(path.Key(v1alpha1.PubProtectOperationAnnotation), list,
					fmt.Sprintf("%q is none of DELETE, UPDATE, EVICT and RESIZE, which stand with commas between them and nothing else", operation)))
			}
		}
	}
	if total, found := b.Annotations[v1alpha1.PubProtectTotalReplicasAnnotation]; found {
		if _, err := strconv.ParseInt(total, 10, 32); err != nil {
			errs = append(errs, field.Invalid(path.Key(v1alpha1.PubProtectTotalReplicasAnnotation), total, "must be a number such as 10"))
		}
	}
	return errs
}

func validateSpec(spec *v1alpha1.PodUnavailableBudgetSpec, path *field.Path) (errs field.ErrorList) {
	switch {
	case (spec.Selector == nil) == (spec.TargetReference == nil):
		errs = append(errs, field.Forbidden(path, "give selector or targetRef, and not both"))
	case spec.Selector != nil:
		errs = append(errs, validateSelector(spec.Selector, path.Child("selector"))...)
	default:
		errs = append(errs, validateTarget(spec.TargetReference, path.Child("targetRef"))...)
	}
	if (spec.MaxUnavailable == nil) == (spec.MinAvailable == nil) {
		return append(errs, field.Forbidden(path, "give maxUnavailable or minAvailable, and not both"))
	}
	errs = append(errs, validateShare(spec.MaxUnavailable, path.Child("maxUnavailable"))...)
	return append(errs, validateShare(spec.MinAvailable, path.Child("minAvailable"))...)
}

func validateSelector(s *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return field.ErrorList{field.Invalid(path, "{}", "must not be empty: it would select everything")}
	}
	return metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, path)
}

func validateTarget(ref *v1alpha1.TargetReference, path *field.Path) (errs field.ErrorList) {
	for _, f := range []struct{ name, value string }{{"apiVersion", ref.APIVersion}, {"kind", ref.Kind}, {"name", ref.Name}} {
		if f.value == "" {
			errs = append(errs, field.Required(path.Child(f.name), "needs apiVersion, kind and name"))
		}
	}
	if _, err := schema.ParseGroupVersion(ref.APIVersion); err != nil {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), ref.APIVersion, "must be VERSION or GROUP/VERSION"))
	}
	return errs
}

func validateShare(value *intstr.IntOrString, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	n, isPercent := int64(value.IntVal), value.Type == intstr.String
	if isPercent {
		digits, found := strings.CutSuffix(value.StrVal, "%")
		percent, err := strconv.ParseInt(digits, 10, 32)
		if n = percent; !found || err != nil || percent > 100 || strings.HasPrefix(digits, "+") {
			n = -1
		}
	}
	if n < 0 {
		return field.ErrorList{field.Invalid(path, value.String(), "must be a number such as 3, at least 0, or a percentage such as 30%, at most 100%")}
	}
	return nil
}
