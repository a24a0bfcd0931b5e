// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Selector checks the field selector of a spec at path. It must be there, be
// well formed, select something, and match the labels of the pod template.
func Selector(selector *metav1.LabelSelector, templateLabels map[string]string, path *field.Path) field.ErrorList {
	at := path.Child("selector")
	if selector == nil {
		return field.ErrorList{field.Required(at, "it says by which labels the pods are found, and must match those of the template")}
	}
	if isEmpty(selector) {
		return field.ErrorList{field.Invalid(at, "{}", "must not be empty: it would select every pod of the namespace")}
	}
	if errs := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, at); len(errs) > 0 {
		return errs
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return field.ErrorList{field.Invalid(at, metav1.FormatLabelSelector(selector), err.Error())}
	}
	if !parsed.Matches(labels.Set(templateLabels)) {
		return field.ErrorList{field.Invalid(path.Child("template", "metadata", "labels"), labels.FormatLabels(templateLabels),
			fmt.Sprintf("must match spec.selector, which is %q", parsed.String()))}
	}
	return nil
}

// SelectorUnchanged checks that the field selector of a spec at path means what
// it meant before. Kind is that of the workload.
func SelectorUnchanged(selector, old *metav1.LabelSelector, kind string, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(selector, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("selector"), metav1.FormatLabelSelector(selector), fmt.Sprintf(
		"the selector is immutable and has to stay %q: create a new %s for other labels", metav1.FormatLabelSelector(old), kind))}
}

func isEmpty(s *metav1.LabelSelector) bool {
	return len(s.MatchLabels)+len(s.MatchExpressions) == 0
}
