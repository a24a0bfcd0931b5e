package cloneset

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func validateUpdateStrategy(s *v1alpha1.CloneSetUpdateStrategy, replicas int32, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch s.Type {
	case "", v1alpha1.RecreateCloneSetUpdateStrategyType, v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType:
	default:
		errs = append(errs, field.NotSupported(path.Child("type"), s.Type, []v1alpha1.CloneSetUpdateStrategyType{
			v1alpha1.RecreateCloneSetUpdateStrategyType, v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType}))
	}
	errs = append(errs, validatePartition(s.Partition, replicas, path.Child("partition"))...)
	errs = append(errs, validateBudget(s, replicas, path)...)
	if s.PriorityStrategy != nil {
		errs = append(errs, validatePriority(s.PriorityStrategy, path.Child("priorityStrategy"))...)
	}
	return append(errs, validateScatter(s.ScatterStrategy, path.Child("scatterStrategy"))...)
}

func validatePartition(partition *intstr.IntOrString, replicas int32, path *field.Path) field.ErrorList {
	if partition == nil {
		return nil
	}
	if _, err := rollout.Partition(partition, replicas); err != nil {
		return field.ErrorList{field.Invalid(path, partition.String(), `must be a number such as 3 or a percentage such as "12.5%"`)}
	}
	if partition.IntVal < 0 || strings.HasPrefix(partition.StrVal, "-") {
		return field.ErrorList{field.Invalid(path, partition.String(), "must be 0 or more")}
	}
	return nil
}

// validateBudget checks maxUnavailable and maxSurge, one by one and together.
// Both are rounded up here.
func validateBudget(s *v1alpha1.CloneSetUpdateStrategy, replicas int32, path *field.Path) field.ErrorList {
	const want = `must be a number such as 3 or a whole percentage such as "30%"`
	var errs field.ErrorList
	surge, err := rollout.MaxSurge(s.MaxSurge, replicas)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("maxSurge"), s.MaxSurge.String(), want))
	} else if surge > 0 && s.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType {
		errs = append(errs, field.Invalid(path.Child("maxSurge"), s.MaxSurge.String(), fmt.Sprintf(
			"must be 0 with type InPlaceOnly, which creates no pods to update others; of %d replicas it is %d", replicas, surge)))
	}
	unavailable, err := rollout.MaxUnavailable(s.MaxUnavailable, replicas, 0)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), s.MaxUnavailable.String(), want))
	}
	if len(errs) == 0 && replicas > 0 && surge < 1 && unavailable < 1 {
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), s.MaxUnavailable.String(),
			"must not be 0 while maxSurge is 0: no pod could ever be updated"))
	}
	return errs
}

func validatePriority(p *inplacev1alpha1.UpdatePriorityStrategy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(p.WeightPriority) > 0 && len(p.OrderPriority) > 0 {
		errs = append(errs, field.Forbidden(path, "weightPriority and orderPriority are both set, at most one of them can be"))
	}
	for i := range p.WeightPriority {
		term, at := &p.WeightPriority[i], path.Child("weightPriority").Index(i)
		if term.Weight < 0 || term.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("weight"), term.Weight, "must be between 0 and 100"))
		}
		errs = append(errs, validateMatchSelector(&term.MatchSelector, at.Child("matchSelector"))...)
	}
	for i, term := range p.OrderPriority {
		if term.OrderedKey == "" {
			errs = append(errs, field.Required(path.Child("orderPriority").Index(i).Child("orderedKey"), "it is the label key that pods are ordered by"))
		}
	}
	return errs
}

func validateMatchSelector(s *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return field.ErrorList{field.Required(path, "it says which pods get the weight, an empty one would be all of them")}
	}
	return metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, path)
}

func validateScatter(terms inplacev1alpha1.UpdateScatterStrategy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[inplacev1alpha1.UpdateScatterTerm]bool, len(terms))
	for i, term := range terms {
		if term.Key == "" {
			errs = append(errs, field.Required(path.Index(i).Child("key"), "it is the key of the label whose pods are spread over the update"))
		}
		if seen[term] {
			errs = append(errs, field.Duplicate(path.Index(i), term.Key+"="+term.Value))
		}
		seen[term] = true
	}
	return errs
}
