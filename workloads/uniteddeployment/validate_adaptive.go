// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// validateAdaptive checks minReplicas, maxReplicas and the schedule strategy, also if they are
// not read. (UD-15.5)
func validateAdaptive(topology *v1alpha1.Topology) (errs field.ErrorList) {
	for i := range topology.Subsets {
		errs = append(errs, validateLimitsOf(&topology.Subsets[i], topologyPath.Index(i))...)
	}
	path, strategy := field.NewPath("spec", "topology", "scheduleStrategy"), &topology.ScheduleStrategy
	errs = append(errs, validation.Enum(strategy.Type, path.Child("type"),
		v1alpha1.FixedUnitedDeploymentScheduleStrategyType, v1alpha1.AdaptiveUnitedDeploymentScheduleStrategyType)...)
	a := ptr.Deref(strategy.Adaptive, v1alpha1.AdaptiveUnitedDeploymentStrategy{})
	for _, time := range []struct {
		name    string
		seconds *int32
	}{
		{"rescheduleCriticalSeconds", a.RescheduleCriticalSeconds},
		{"unschedulableDuration", a.UnschedulableDuration}, {"unschedulableLastSeconds", a.UnschedulableLastSeconds},
	} {
		if n := ptr.Deref(time.seconds, 0); n < 0 {
			errs = append(errs, field.Invalid(path.Child("adaptive", time.name), n, "must be 0 or more"))
		}
	}
	return errs
}

// validateLimitsOf checks minReplicas and maxReplicas of a subset.
func validateLimitsOf(subset *v1alpha1.Subset, path *field.Path) (errs field.ErrorList) {
	const least, most = "minReplicas", "maxReplicas"
	percent := map[string]uint64{}
	for _, limit := range []struct {
		name  string
		value *intstr.IntOrString
	}{{least, subset.MinReplicas}, {most, subset.MaxReplicas}} {
		if limit.value == nil {
			continue
		}
		_, weight, err := specified(limit.value, 100)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child(limit.name), limit.value.String(), err.Error()))
		} else {
			percent[limit.name] = weight
		}
		if subset.Replicas != nil {
			errs = append(errs, field.Forbidden(path.Child(limit.name), "must be absent if the subset has replicas"))
		}
	}
	if len(percent) == 2 && subset.MinReplicas.Type == subset.MaxReplicas.Type && percent[least] > percent[most] {
		errs = append(errs, field.Invalid(path.Child(least), subset.MinReplicas.String(), fmt.Sprintf("must be at most maxReplicas, which is %s", subset.MaxReplicas)))
	}
	return errs
}

// validateLimits checks that the replicas are between the limits of all subsets together.
func validateLimits(subsets []v1alpha1.Subset, replicas int32) field.ErrorList {
	var least, most int64
	for i := range subsets {
		l, err := limitsOf(&subsets[i], replicas)
		if err != nil || l.crossed {
			return nil // has an error of its own
		}
		least, most = least+int64(l.least), most+int64(l.most)
	}
	switch {
	case least > int64(replicas):
		return field.ErrorList{field.Invalid(topologyPath, least,
			fmt.Sprintf("replicas and minReplicas of the subsets add up to %d, and must be at most spec.replicas, which is %d", least, replicas))}
	case most < int64(replicas) && len(subsets) > 0:
		return field.ErrorList{field.Invalid(topologyPath, most,
			fmt.Sprintf("replicas and maxReplicas of the subsets add up to %d, and must be at least spec.replicas, which is %d: leave one subset without maxReplicas", most, replicas))}
	}
	return nil
}
