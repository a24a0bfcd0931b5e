// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func validateUpdateStrategy(spec *v1beta1.StatefulSetSpec, path *field.Path) field.ErrorList {
	s := &spec.UpdateStrategy
	errs := validation.Enum(s.Type, path.Child("type"), appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType)
	if s.RollingUpdate == nil {
		return errs
	}
	path = path.Child("rollingUpdate")
	if s.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return append(errs, field.Forbidden(path, "must be absent with the type OnDelete, which updates no pods: remove it or use RollingUpdate"))
	}
	return append(errs, validateRollingUpdate(spec, path)...)
}

func validateRollingUpdate(spec *v1beta1.StatefulSetSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	rolling := spec.UpdateStrategy.RollingUpdate
	if p := rolling.Partition; p != nil && *p < 0 {
		errs = append(errs, field.Invalid(path.Child("partition"), *p, "must be 0 or more"))
	}
	errs = append(errs, validateMaxUnavailable(rolling.MaxUnavailable, spec.PodManagementPolicy, path.Child("maxUnavailable"))...)
	errs = append(errs, validatePodUpdatePolicy(rolling.PodUpdatePolicy, spec.Template.Spec.ReadinessGates, path.Child("podUpdatePolicy"))...)
	if unordered := rolling.UnorderedUpdate; unordered != nil {
		at := path.Child("unorderedUpdate")
		if spec.PodManagementPolicy != appsv1.ParallelPodManagement {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("needs podManagementPolicy Parallel, and it is %s", managementPolicy(spec))))
		}
		errs = append(errs, validation.Priority(unordered.PriorityStrategy, at.Child("priorityStrategy"))...)
	}
	if s := rolling.MinReadySeconds; s != nil && (*s < 0 || *s > v1beta1.MaxStatefulSetMinReadySeconds) {
		errs = append(errs, field.Invalid(path.Child("minReadySeconds"), *s, fmt.Sprintf("must be between 0 and %d", v1beta1.MaxStatefulSetMinReadySeconds)))
	}
	return errs
}

// validateMaxUnavailable checks a limit of an update or of a creation of pods.
func validateMaxUnavailable(limit *intstr.IntOrString, policy appsv1.PodManagementPolicyType, path *field.Path) field.ErrorList {
	if limit == nil {
		return nil
	}
	// A percentage of one pod, rounded up, is 0 only if it is 0% or less.
	if pods, err := rollout.Count("maxUnavailable", *limit, 1, rollout.RoundUp); err != nil || pods < 1 {
		return field.ErrorList{field.Invalid(path, limit.String(), "must be a number of pods of 1 or more, or a whole percentage of 1% or more")}
	}
	if policy != appsv1.ParallelPodManagement && (limit.Type != intstr.Int || limit.IntVal != 1) {
		return field.ErrorList{field.Invalid(path, limit.String(), "must be the number 1 unless podManagementPolicy is Parallel: pods in order are unavailable one at a time")}
	}
	return nil
}

func validatePodUpdatePolicy(policy v1beta1.PodUpdateStrategyType, gates []corev1.PodReadinessGate, path *field.Path) field.ErrorList {
	errs := validation.Enum(policy, path, v1beta1.RecreatePodUpdateStrategyType,
		v1beta1.InPlaceIfPossiblePodUpdateStrategyType, v1beta1.InPlaceOnlyPodUpdateStrategyType)
	if len(errs) > 0 || policy == "" || policy == v1beta1.RecreatePodUpdateStrategyType {
		return errs
	}
	gate := corev1.PodReadinessGate{ConditionType: inplacev1alpha1.InPlaceUpdateReady}
	if !slices.Contains(gates, gate) {
		errs = append(errs, field.Invalid(path, policy, fmt.Sprintf(
			"needs the readiness gate %s, which keeps a pod out of service while it changes: add it to spec.template.spec.readinessGates", gate.ConditionType)))
	}
	return errs
}
