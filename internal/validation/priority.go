// SPDX-License-Identifier: Apache-2.0

package validation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// Priority checks the order in which pods are updated. Nil is right.
func Priority(p *inplacev1alpha1.UpdatePriorityStrategy, path *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	if len(p.WeightPriority) > 0 && len(p.OrderPriority) > 0 {
		errs = append(errs, field.Forbidden(path, "weightPriority and orderPriority are both set, at most one of them can be"))
	}
	for i := range p.WeightPriority {
		term, at := &p.WeightPriority[i], path.Child("weightPriority").Index(i)
		if term.Weight < 0 || term.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("weight"), term.Weight, "must be between 0 and 100"))
		}
		errs = append(errs, matchSelector(&term.MatchSelector, at.Child("matchSelector"))...)
	}
	for i, term := range p.OrderPriority {
		if term.OrderedKey == "" {
			errs = append(errs, field.Required(path.Child("orderPriority").Index(i).Child("orderedKey"), "it is the label key that pods are ordered by"))
		}
	}
	return errs
}

func matchSelector(s *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if isEmpty(s) {
		return field.ErrorList{field.Required(path, "it says which pods get the weight, an empty one would be all of them")}
	}
	return metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, path)
}
