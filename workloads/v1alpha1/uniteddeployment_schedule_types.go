// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UnitedDeploymentScheduleStrategyType says whether pods that cannot be scheduled go elsewhere.
type UnitedDeploymentScheduleStrategyType string

const (
	// AdaptiveUnitedDeploymentScheduleStrategyType has other subsets run what a subset cannot
	// schedule.
	AdaptiveUnitedDeploymentScheduleStrategyType UnitedDeploymentScheduleStrategyType = "Adaptive"
	// FixedUnitedDeploymentScheduleStrategyType leaves pods in their subset. The default.
	FixedUnitedDeploymentScheduleStrategyType UnitedDeploymentScheduleStrategyType = "Fixed"
)

// UnitedDeploymentScheduleStrategy says what becomes of pods that cannot be scheduled.
type UnitedDeploymentScheduleStrategy struct {
	// Type is Fixed (default) or Adaptive.
	// +optional
	Type UnitedDeploymentScheduleStrategyType `json:"type,omitempty"`

	// Adaptive is for the type Adaptive alone.
	// +optional
	Adaptive *AdaptiveUnitedDeploymentStrategy `json:"adaptive,omitempty"`
}

// AdaptiveUnitedDeploymentStrategy says when other subsets run what a subset cannot schedule.
type AdaptiveUnitedDeploymentStrategy struct {
	// RescheduleCriticalSeconds is the age in seconds at which a pod that cannot be scheduled
	// is run by another subset. Default 30; 0: at once.
	// +optional
	RescheduleCriticalSeconds *int32 `json:"rescheduleCriticalSeconds,omitempty"`

	// UnschedulableDuration is the time in seconds for which a subset gets no more pods after
	// one of its pods could not be scheduled. Default 300.
	// +optional
	UnschedulableDuration *int32 `json:"unschedulableDuration,omitempty"`

	// UnschedulableLastSeconds is an earlier name of UnschedulableDuration, which counts
	// if both are set.
	// +optional
	UnschedulableLastSeconds *int32 `json:"unschedulableLastSeconds,omitempty"`

	// ReserveUnschedulablePods keeps pods that cannot be scheduled in their subset, beside
	// those that other subsets run instead of them. Default false: they are deleted.
	// +optional
	ReserveUnschedulablePods bool `json:"reserveUnschedulablePods,omitempty"`
}

// UnitedDeploymentSubsetStatus is the observed state of a subset.
type UnitedDeploymentSubsetStatus struct {
	// Name is the name of the subset.
	// +optional
	Name string `json:"name,omitempty"`

	// Replicas is the number of pods that the subset is to have.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// ReadyReplicas is the number of its ready pods, as its workload says.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// Partition is the number of its pods that are held back.
	// +optional
	Partition int32 `json:"partition,omitempty"`

	// ReservedPods is the number of its pods that other subsets have substitutes for.
	// +optional
	ReservedPods int32 `json:"reservedPods,omitempty"`

	// Conditions are those of the subset: Schedulable.
	// +optional
	Conditions []UnitedDeploymentSubsetCondition `json:"conditions,omitempty"`
}

// UnitedDeploymentSubsetConditionType is the type of a UnitedDeploymentSubsetCondition.
type UnitedDeploymentSubsetConditionType string

// UnitedDeploymentSubsetSchedulable says whether the pods of a subset find nodes.
const UnitedDeploymentSubsetSchedulable UnitedDeploymentSubsetConditionType = "Schedulable"

// UnitedDeploymentSubsetCondition describes one aspect of a subset.
type UnitedDeploymentSubsetCondition struct {
	// +optional
	Type UnitedDeploymentSubsetConditionType `json:"type,omitempty"`
	// +optional
	Status corev1.ConditionStatus `json:"status,omitempty"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}
