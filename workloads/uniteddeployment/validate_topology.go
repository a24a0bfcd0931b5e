// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var topologyPath = field.NewPath("spec", "topology", "subsets")

// validateSubsets checks the names of subsets and the replicas of each. (UD-15)
func validateSubsets(subsets []v1alpha1.Subset, path *field.Path) (errs field.ErrorList) {
	names := map[string]bool{}
	for i := range subsets {
		subset, at := &subsets[i], path.Index(i)
		switch problems := utilvalidation.IsDNS1123Label(subset.Name); {
		case subset.Name == "":
			errs = append(errs, field.Required(at.Child("name"), "it is part of the names and labels of its workload"))
		case names[subset.Name]:
			errs = append(errs, field.Duplicate(at.Child("name"), subset.Name))
		case len(problems) > 0:
			errs = append(errs, field.Invalid(at.Child("name"), subset.Name, problems[0]))
		}
		names[subset.Name] = true
		if subset.Replicas == nil {
			continue
		}
		if _, _, err := specified(subset.Replicas, 0); err != nil {
			errs = append(errs, field.Invalid(at.Child("replicas"), subset.Replicas.String(), err.Error()))
		}
	}
	return errs
}

// validateSum checks that the replicas which subsets ask for add up, and with them minReplicas and
// maxReplicas if these are read. (UD-15.3, UD-15.5)
func validateSum(spec *v1alpha1.UnitedDeploymentSpec, adaptive bool) field.ErrorList {
	if _, some, _ := givenNumbers(spec.Topology.Subsets); spec.Replicas == nil && some {
		return nil // they are the sum of the subsets, or have an error of their own
	}
	replicas := max(ptr.Deref(spec.Replicas, 1), 0)
	if adaptive && limited(spec.Topology.Subsets) {
		return validateLimits(spec.Topology.Subsets, replicas)
	}
	a, err := Allocate(replicas, spec.Topology.Subsets, nil)
	if err != nil || !a.Resolved {
		return nil // what cannot be read has an error of its own
	}
	var sum int64
	for i := range spec.Topology.Subsets {
		if wanted := spec.Topology.Subsets[i].Replicas; wanted != nil {
			n, _, _ := specified(wanted, replicas)
			sum += int64(n)
		}
	}
	problem := fmt.Sprintf("the replicas of the subsets add up to %d, and must be at most spec.replicas, which is %d", sum, replicas)
	if sum < int64(replicas) {
		problem = fmt.Sprintf("the replicas of the subsets add up to %d, and must be spec.replicas, which is %d: leave one subset without replicas, so that it gets the rest", sum, replicas)
	}
	return field.ErrorList{field.Invalid(topologyPath, sum, problem)}
}

// asked is what the subsets ask for, by name.
func asked(spec *v1alpha1.UnitedDeploymentSpec, adaptive bool) map[string][3]intstr.IntOrString {
	all := map[string][3]intstr.IntOrString{}
	for i := range spec.Topology.Subsets {
		subset := &spec.Topology.Subsets[i]
		wants := [3]intstr.IntOrString{ptr.Deref(subset.Replicas, intstr.FromString("the rest"))}
		if adaptive {
			wants[1], wants[2] = ptr.Deref(subset.MinReplicas, intstr.FromInt32(0)), ptr.Deref(subset.MaxReplicas, intstr.FromString("no limit"))
		}
		all[subset.Name] = wants
	}
	return all
}

// validatePartitions checks that partitions are those of subsets.
func validatePartitions(spec *v1alpha1.UnitedDeploymentSpec, path *field.Path) (errs field.ErrorList) {
	manual := spec.UpdateStrategy.ManualUpdate
	if manual == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(manual.Partitions)) {
		if !slices.ContainsFunc(spec.Topology.Subsets, func(s v1alpha1.Subset) bool { return s.Name == name }) {
			errs = append(errs, field.Invalid(path.Key(name), name, "must be the name of a subset in spec.topology.subsets"))
		}
	}
	return errs
}

// validatePlaces checks node selectors and tolerations as the API server does in pods.
func validatePlaces(subsets []v1alpha1.Subset, path *field.Path) (errs field.ErrorList) {
	for i := range subsets {
		term, at := &subsets[i].NodeSelectorTerm, path.Index(i)
		for j := range term.MatchExpressions {
			errs = append(errs, validateExpression(&term.MatchExpressions[j], at.Child("nodeSelectorTerm", "matchExpressions").Index(j))...)
		}
		for j := range subsets[i].Tolerations {
			errs = append(errs, validateToleration(&subsets[i].Tolerations[j], at.Child("tolerations").Index(j))...)
		}
	}
	return errs
}

func validateExpression(e *corev1.NodeSelectorRequirement, path *field.Path) (errs field.ErrorList) {
	switch values := len(e.Values); e.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if values == 0 {
			errs = append(errs, field.Required(path.Child("values"), fmt.Sprintf("the operator %s needs values", e.Operator)))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if values > 0 {
			errs = append(errs, field.Forbidden(path.Child("values"), fmt.Sprintf("the operator %s has no values", e.Operator)))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if values != 1 {
			errs = append(errs, field.Required(path.Child("values"), fmt.Sprintf("the operator %s needs one value", e.Operator)))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), e.Operator, "must be In, NotIn, Exists, DoesNotExist, Gt or Lt"))
	}
	return append(errs, metav1validation.ValidateLabelName(e.Key, path.Child("key"))...)
}

func validateToleration(t *corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	if t.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, path.Child("key"))...)
	} else if t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(path.Child("operator"), t.Operator, "must be Exists if there is no key: it stands for all taints"))
	}
	if t.Operator == corev1.TolerationOpExists && t.Value != "" {
		errs = append(errs, field.Invalid(path.Child("value"), t.Value, "must be empty with the operator Exists"))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("effect"), t.Effect, "must be NoExecute if tolerationSeconds is set"))
	}
	return append(errs, validation.Enum(t.Effect, path.Child("effect"),
		corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
}

// validatePatches checks that the patches of subsets can be applied.
func validatePatches(spec *v1alpha1.UnitedDeploymentSpec, path *field.Path) (errs field.ErrorList) {
	pods := podTemplate(&spec.Template)
	if pods == nil {
		return nil
	}
	for i := range spec.Topology.Subsets {
		if _, err := patched(pods, spec.Topology.Subsets[i].Patch); err != nil {
			errs = append(errs, field.Invalid(path.Index(i).Child("patch"), string(spec.Topology.Subsets[i].Patch.Raw), err.Error()))
		}
	}
	return errs
}
