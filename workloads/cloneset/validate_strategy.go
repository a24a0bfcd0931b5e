// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func validateUpdateStrategy(s *v1alpha1.CloneSetUpdateStrategy, replicas int32, path *field.Path) field.ErrorList {
	errs := validation.Enum(s.Type, path.Child("type"), v1alpha1.RecreateCloneSetUpdateStrategyType,
		v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType,
		v1alpha1.OnDeleteCloneSetUpdateStrategyType)
	errs = append(errs, validatePartition(s.Partition, replicas, path.Child("partition"))...)
	errs = append(errs, validateBudget(s, replicas, path)...)
	errs = append(errs, validation.Priority(s.PriorityStrategy, path.Child("priorityStrategy"))...)
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

// numberStrings refuses "30", which is read as "30%". What is no percentage with the sign either is refused by validateBudget.
// (CS-V11)
func numberStrings(s *v1alpha1.CloneSetUpdateStrategy) (errs field.ErrorList) {
	path := field.NewPath("spec", "updateStrategy")
	check := func(name string, value *intstr.IntOrString) {
		if value == nil || value.Type == intstr.Int || strings.HasSuffix(value.StrVal, "%") {
			return
		}
		if _, err := strconv.Atoi(value.StrVal); err == nil {
			errs = append(errs, field.Invalid(path.Child(name), value.StrVal, fmt.Sprintf("a string must be a percentage: want the number %[1]s, or \"%[1]s%%\"", value.StrVal)))
		}
	}
	check("maxUnavailable", s.MaxUnavailable)
	check("maxSurge", s.MaxSurge)
	return errs
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
