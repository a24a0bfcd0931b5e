// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// WorkloadSpreadSpec says how the pods of a workload are spread.
type WorkloadSpreadSpec struct {
	// TargetReference names the workload, in the namespace of the WorkloadSpread. Required.
	// Its group, kind and name cannot be modified.
	TargetReference *TargetReference `json:"targetRef"`

	// Subsets are the places for the pods, filled in this order. At least one.
	Subsets []WorkloadSpreadSubset `json:"subsets"`

	// TargetFilter says which pods of the workload are spread, and how many it wants of them. Default: all, as many as the
	// workload wants.
	// +optional
	TargetFilter *TargetFilter `json:"targetFilter,omitempty"`

	// ScheduleStrategy says what becomes of pods that a subset has no room for.
	// +optional
	ScheduleStrategy WorkloadSpreadScheduleStrategy `json:"scheduleStrategy,omitempty"`
}

// TargetFilter are the pods of a workload that are spread, if it has several roles.
type TargetFilter struct {
	// Selector selects the pods that are spread. The others are created unchanged, and count in no subset. Default, and an
	// empty one: all.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// ReplicasPathList are paths of the workload at which it says how many pods it wants, such as
	// spec.replicaSpecs.Worker.replicas or spec.roles.0.replicas. What stands there is added up. An empty path adds nothing.
	// Default: as many as the workload wants.
	// +optional
	ReplicasPathList []string `json:"replicasPathList,omitempty"`
}

// WorkloadSpreadSubset is a place for pods.
type WorkloadSpreadSubset struct {
	// Name tells the subset from the others. Required.
	Name string `json:"name"`

	// RequiredNodeSelectorTerm is what nodes have to meet, beside each required term of the
	// pod itself. Default: nothing.
	// +optional
	RequiredNodeSelectorTerm *corev1.NodeSelectorTerm `json:"requiredNodeSelectorTerm,omitempty"`

	// PreferredNodeSelectorTerms are appended to those of the pod.
	// +optional
	PreferredNodeSelectorTerms []PreferredNodeSelectorTerm `json:"preferredNodeSelectorTerms,omitempty"`

	// Tolerations are appended to those of the pod.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// MaxReplicas is how many pods the subset takes: a number, or a percentage of the pods
	// that the workload wants, rounded up. Default: as many as come.
	// +optional
	MaxReplicas *intstr.IntOrString `json:"maxReplicas,omitempty"`

	// Patch is a strategic merge patch of a Pod.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Patch runtime.RawExtension `json:"patch,omitempty"`
}

// PreferredNodeSelectorTerm is a corev1.PreferredSchedulingTerm, to which it can be
// converted.
type PreferredNodeSelectorTerm = corev1.PreferredSchedulingTerm

// WorkloadSpreadScheduleStrategyType says whether pods that cannot be scheduled go elsewhere.
// +kubebuilder:validation:Enum=Adaptive;Fixed;""
type WorkloadSpreadScheduleStrategyType string

const (
	// AdaptiveWorkloadSpreadScheduleStrategyType sends pods elsewhere that cannot be
	// scheduled in their subset.
	AdaptiveWorkloadSpreadScheduleStrategyType WorkloadSpreadScheduleStrategyType = "Adaptive"
	// FixedWorkloadSpreadScheduleStrategyType leaves them in their subset. The default.
	FixedWorkloadSpreadScheduleStrategyType WorkloadSpreadScheduleStrategyType = "Fixed"
)

// WorkloadSpreadScheduleStrategy says what becomes of pods that cannot be scheduled.
type WorkloadSpreadScheduleStrategy struct {
	// Type is Fixed (default) or Adaptive.
	// +optional
	Type WorkloadSpreadScheduleStrategyType `json:"type,omitempty"`

	// Adaptive is for the type Adaptive alone.
	// +optional
	Adaptive *AdaptiveWorkloadSpreadStrategy `json:"adaptive,omitempty"`
}

// AdaptiveWorkloadSpreadStrategy says when a pod goes to another subset.
type AdaptiveWorkloadSpreadStrategy struct {
	// DisableSimulationSchedule has no effect.
	// +optional
	DisableSimulationSchedule bool `json:"disableSimulationSchedule,omitempty"`

	// RescheduleCriticalSeconds is the time in seconds after which a pod that cannot be
	// scheduled is deleted, so that the workload creates it in another subset. Default, and
	// 0: never.
	// +optional
	RescheduleCriticalSeconds *int32 `json:"rescheduleCriticalSeconds,omitempty"`
}

// WorkloadSpreadStatus is the observed state of a WorkloadSpread.
type WorkloadSpreadStatus struct {
	// ObservedGeneration is the generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// SubsetStatuses are the subsets, in the order of the spec.
	// +optional
	SubsetStatuses []WorkloadSpreadSubsetStatus `json:"subsetStatuses,omitempty"`

	// VersionedSubsetStatuses are what OpenKruise 1.6 and later count for each version of pods. Podwright reads versions from the
	// pods, and leaves it empty.
	// +optional
	VersionedSubsetStatuses map[string][]WorkloadSpreadSubsetStatus `json:"versionedSubsetStatuses,omitempty"`
}

// WorkloadSpreadSubsetStatus is the observed state of a subset.
type WorkloadSpreadSubsetStatus struct {
	// Name is the name of the subset.
	Name string `json:"name"`

	// Conditions are those of the subset. Schedulable is there if the strategy is Adaptive, and PatchApplies if the patch cannot
	// be used. HeldUp is there if something has held the subset up for a minute.
	// +optional
	Conditions []WorkloadSpreadSubsetCondition `json:"conditions,omitempty"`

	// Replicas is the number of its pods that have not ended.
	Replicas int32 `json:"replicas"`

	// MissingReplicas is how many more pods it takes; -1 if it has no maxReplicas.
	MissingReplicas int32 `json:"missingReplicas"`

	// CreatingPods are pods that are being created, with the time since when.
	// +optional
	CreatingPods map[string]metav1.Time `json:"creatingPods,omitempty"`

	// DeletingPods are pods that are being deleted, with the time since when.
	// +optional
	DeletingPods map[string]metav1.Time `json:"deletingPods,omitempty"`
}

// WorkloadSpreadSubsetConditionType is a type of condition of a subset.
type WorkloadSpreadSubsetConditionType string

// SubsetSchedulable is False while no pods are sent to a subset because one could not be
// scheduled there.
const SubsetSchedulable WorkloadSpreadSubsetConditionType = "Schedulable"

// SubsetPatchApplies is False while no pods are created in a subset because its patch would take
// them away from the workload. Otherwise a subset does not have it.
const SubsetPatchApplies WorkloadSpreadSubsetConditionType = "PatchApplies"

// SubsetHeldUp is there, and True, while something has held a subset up for a minute. The message begins with the object. What
// holds up the whole WorkloadSpread stands with the first subset. OpenKruise does not know it.
const SubsetHeldUp WorkloadSpreadSubsetConditionType = "HeldUp"

// PatchBreaksSelectorReason is the reason of SubsetPatchApplies: the patch changes labels by which
// the workload, or a controller, knows its pods.
const PatchBreaksSelectorReason = "PatchBreaksSelector"

// WorkloadSpreadSubsetCondition is a condition of a subset.
type WorkloadSpreadSubsetCondition struct {
	// Type is the type of the condition.
	Type WorkloadSpreadSubsetConditionType `json:"type"`

	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`

	// LastTransitionTime is when the status was another last.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`

	// Reason is one word for why.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message says why.
	// +optional
	Message string `json:"message,omitempty"`
}

// WorkloadSpread spreads the pods of a workload over subsets: zones, pools of nodes.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ws
// +kubebuilder:printcolumn:name="WorkloadName",type="string",JSONPath=".spec.targetRef.name"
// +kubebuilder:printcolumn:name="WorkloadKind",type="string",JSONPath=".spec.targetRef.kind"
// +kubebuilder:printcolumn:name="Adaptive",type="boolean",JSONPath=".spec.scheduleStrategy.type[?(@ == \"Adaptive\")]",description="Whether pods that cannot be scheduled go to another subset."
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a WorkloadSpread needs a spec with targetRef and subsets"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetRef",rule=`!has(self.spec) || !has(self.spec.targetRef) || size(self.spec.targetRef.apiVersion) > 0 && size(self.spec.targetRef.kind) > 0 && size(self.spec.targetRef.name) > 0`,reason=FieldValueRequired,message="needs apiVersion, kind and name"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetRef",rule=`!has(self.spec) || !has(self.spec.targetRef) || size(self.spec.targetRef.kind) == 0 || (self.spec.targetRef.apiVersion.startsWith('apps.kruise.io/') ? self.spec.targetRef.kind in ['CloneSet', 'StatefulSet', 'DaemonSet', 'BroadcastJob', 'AdvancedCronJob', 'UnitedDeployment'] : self.spec.targetRef.apiVersion.startsWith('apps/') ? self.spec.targetRef.kind in ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'] : !self.spec.targetRef.apiVersion.startsWith('batch/') || self.spec.targetRef.kind in ['Job', 'CronJob'])`,reason=FieldValueInvalid,message="must be a CloneSet or StatefulSet of apps.kruise.io, a Deployment, ReplicaSet or StatefulSet of apps, a Job of batch, or of a kind that the white list names"
// +kubebuilder:validation:XValidation:fieldPath=".spec.subsets",rule=`!has(self.spec) || has(self.spec.subsets) && size(self.spec.subsets) > 0`,reason=FieldValueRequired,message="there must be at least one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.subsets",rule=`!has(self.spec) || !has(self.spec.subsets) || self.spec.subsets.all(s, size(s.name) > 0)`,reason=FieldValueRequired,message="every subset needs a name"
// +kubebuilder:validation:XValidation:fieldPath=".spec.subsets",rule=`!has(self.spec) || !has(self.spec.subsets) || self.spec.subsets.all(s, !has(s.maxReplicas) || (type(s.maxReplicas) == int ? s.maxReplicas >= 0 : s.maxReplicas.endsWith('%')))`,message="every maxReplicas must be a number such as 3, at least 0, or a percentage such as 30%, at most 100%"
// +kubebuilder:validation:XValidation:fieldPath=".spec.subsets",rule=`!has(self.spec) || !has(self.spec.subsets) || !self.spec.subsets.exists(s, has(s.maxReplicas) && type(s.maxReplicas) == int) || !self.spec.subsets.exists(s, has(s.maxReplicas) && type(s.maxReplicas) == string)`,message="every maxReplicas must be a number, or every one a percentage"
// +kubebuilder:validation:XValidation:fieldPath=".spec.subsets",rule=`!has(self.spec) || !has(self.spec.targetRef) || self.spec.targetRef.kind != 'StatefulSet' || !self.spec.targetRef.apiVersion.startsWith('apps/') && !self.spec.targetRef.apiVersion.startsWith('apps.kruise.io/') || !has(self.spec.subsets) || !self.spec.subsets.exists(s, has(s.maxReplicas) && type(s.maxReplicas) == string)`,message="maxReplicas of a StatefulSet must be a number: its pods are assigned by their ordinals"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetFilter.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.targetFilter) || !has(self.spec.targetFilter.selector) || !has(self.spec.targetFilter.selector.matchExpressions) || self.spec.targetFilter.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.scheduleStrategy.adaptive",rule=`!has(self.spec) || !has(self.spec.scheduleStrategy) || !has(self.spec.scheduleStrategy.adaptive) || has(self.spec.scheduleStrategy.type) && self.spec.scheduleStrategy.type == 'Adaptive'`,reason=FieldValueForbidden,message="is for the type Adaptive alone"
// +kubebuilder:validation:XValidation:fieldPath=".spec.subsets",rule=`!has(self.spec) || !has(self.spec.scheduleStrategy) || !has(self.spec.scheduleStrategy.adaptive) || !has(self.spec.subsets) || size(self.spec.subsets) < 2 || !has(self.spec.subsets[size(self.spec.subsets) - 1].maxReplicas)`,reason=FieldValueForbidden,message="with scheduleStrategy.adaptive the last subset must have no maxReplicas: it takes the pods that fit nowhere else"
// +kubebuilder:validation:XValidation:fieldPath=".spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds",rule=`!has(self.spec) || !has(self.spec.scheduleStrategy) || !has(self.spec.scheduleStrategy.adaptive) || !has(self.spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds) || self.spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds >= 0 && (!has(self.spec.subsets) || size(self.spec.subsets) < 2 || self.spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds <= 3600)`,message="must be at least 0, and at most 3600 with several subsets"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetRef",rule=`!has(self.spec) || !has(oldSelf.spec) || !has(self.spec.targetRef) || !has(oldSelf.spec.targetRef) || self.spec.targetRef.apiVersion.split('/')[0] == oldSelf.spec.targetRef.apiVersion.split('/')[0] && self.spec.targetRef.kind == oldSelf.spec.targetRef.kind && self.spec.targetRef.name == oldSelf.spec.targetRef.name`,reason=FieldValueForbidden,message="group, kind and name cannot be modified"
type WorkloadSpread struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec WorkloadSpreadSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status WorkloadSpreadStatus `json:"status,omitempty"`
}

// WorkloadSpreadList is a list of WorkloadSpreads.
//
// +kubebuilder:object:root=true
type WorkloadSpreadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []WorkloadSpread `json:"items"`
}
