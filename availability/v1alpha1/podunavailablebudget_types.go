// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PodUnavailableBudgetSpec says which pods are protected, and how many of them may be
// unavailable.
type PodUnavailableBudgetSpec struct {
	// Selector selects the pods by label, in the namespace of the budget. It must not be
	// empty. Either Selector or TargetReference, for good.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// TargetReference names the workload whose pods they are, in the namespace of the
	// budget: one with a scale subresource.
	// +optional
	TargetReference *TargetReference `json:"targetRef,omitempty"`

	// MaxUnavailable is how many of the pods that the workloads want may be unavailable:
	// a number, or a percentage of them, rounded up. Either MaxUnavailable or
	// MinAvailable.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// MinAvailable is how many pods have to stay available: a number, or a percentage of
	// the pods that the workloads want, rounded up.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
}

// TargetReference names a workload.
type TargetReference struct {
	// APIVersion is the group and version of the workload. The version does not matter.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is the kind of the workload.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name is the name of the workload.
	// +optional
	Name string `json:"name,omitempty"`
}

// PodUnavailableBudgetStatus is how much of the budget is left. Webhooks and workloads
// use it up, and the controller computes it anew.
type PodUnavailableBudgetStatus struct {
	// ObservedGeneration is the generation that the status is about. Before it is
	// written first, nothing is allowed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// DisruptedPods are the pods whose deletion or eviction was allowed and is still to
	// be seen, with the time of that.
	// +optional
	DisruptedPods map[string]metav1.Time `json:"disruptedPods,omitempty"`

	// UnavailablePods are the pods whose update was allowed and is still to be seen, with
	// the time of that.
	// +optional
	UnavailablePods map[string]metav1.Time `json:"unavailablePods,omitempty"`

	// PodUIDs are the UIDs of the pods in DisruptedPods and UnavailablePods, so that a new
	// pod of the name is another one. OpenKruise 1.4 does not know the field.
	// +optional
	PodUIDs map[string]types.UID `json:"podUIDs,omitempty"`

	// BookedSince is about pods in DisruptedPods and UnavailablePods that were asked about again and
	// again: it says since when they are there. Of others, which were there for long, it says since
	// when they wait. OpenKruise does not know the field.
	// +optional
	BookedSince map[string]metav1.Time `json:"bookedSince,omitempty"`

	// UnavailableAllowed is how many available pods may become unavailable now.
	UnavailableAllowed int32 `json:"unavailableAllowed"`

	// CurrentAvailable is how many pods are available.
	CurrentAvailable int32 `json:"currentAvailable"`

	// DesiredAvailable is how many pods have to be available.
	DesiredAvailable int32 `json:"desiredAvailable"`

	// TotalReplicas is how many pods the workloads want.
	TotalReplicas int32 `json:"totalReplicas"`

	// Conditions are TotalUnknown and PodsElsewhere, while they hold, and HeldUp, which says what has held the budget up
	// for a minute. OpenKruise does not know the field.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PodUnavailableBudget limits how many pods are unavailable at once because users or controllers
// delete, evict or update them.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pub
// +kubebuilder:printcolumn:name="Allowed",type="integer",JSONPath=".status.unavailableAllowed",description="How many available pods may become unavailable now."
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.currentAvailable",description="How many pods are available."
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".status.desiredAvailable",description="How many pods have to be available."
// +kubebuilder:printcolumn:name="Total",type="integer",JSONPath=".status.totalReplicas",description="How many pods the workloads want."
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a PodUnavailableBudget needs a spec with selector or targetRef, and maxUnavailable or minAvailable"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`!has(self.spec) || has(self.spec.selector) != has(self.spec.targetRef)`,message="give selector or targetRef, and not both"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`!has(self.spec) || has(self.spec.maxUnavailable) != has(self.spec.minAvailable)`,message="give maxUnavailable or minAvailable, and not both"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || !has(self.spec.selector) || (has(self.spec.selector.matchLabels) && size(self.spec.selector.matchLabels) > 0 || has(self.spec.selector.matchExpressions) && size(self.spec.selector.matchExpressions) > 0)`,message="must not be empty: it would select everything"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.selector) || !has(self.spec.selector.matchExpressions) || self.spec.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetRef",rule=`!has(self.spec) || !has(self.spec.targetRef) || has(self.spec.targetRef.apiVersion) && size(self.spec.targetRef.apiVersion) > 0 && has(self.spec.targetRef.kind) && size(self.spec.targetRef.kind) > 0 && has(self.spec.targetRef.name) && size(self.spec.targetRef.name) > 0`,reason=FieldValueRequired,message="needs apiVersion, kind and name"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetRef.apiVersion",rule=`!has(self.spec) || !has(self.spec.targetRef) || !has(self.spec.targetRef.apiVersion) || self.spec.targetRef.apiVersion.matches('^[^/]*(/[^/]*)?$')`,message="must be VERSION or GROUP/VERSION"
// +kubebuilder:validation:XValidation:fieldPath=".spec.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.maxUnavailable) || (type(self.spec.maxUnavailable) == int ? self.spec.maxUnavailable >= 0 : self.spec.maxUnavailable.matches('^([0-9]|[1-9][0-9]|100)%$'))`,message="must be a number such as 3, at least 0, or a percentage such as 30%, at most 100%"
// +kubebuilder:validation:XValidation:fieldPath=".spec.minAvailable",rule=`!has(self.spec) || !has(self.spec.minAvailable) || (type(self.spec.minAvailable) == int ? self.spec.minAvailable >= 0 : self.spec.minAvailable.matches('^([0-9]|[1-9][0-9]|100)%$'))`,message="must be a number such as 3, at least 0, or a percentage such as 30%, at most 100%"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`!has(self.spec) || !has(oldSelf.spec) || has(self.spec.selector) == has(oldSelf.spec.selector) && has(self.spec.targetRef) == has(oldSelf.spec.targetRef) && (!has(self.spec.selector) || self.spec.selector == oldSelf.spec.selector) && (!has(self.spec.targetRef) || self.spec.targetRef == oldSelf.spec.targetRef)`,reason=FieldValueForbidden,message="selector and targetRef cannot be modified"
type PodUnavailableBudget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec PodUnavailableBudgetSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status PodUnavailableBudgetStatus `json:"status,omitempty"`
}

// PodUnavailableBudgetList is a list of PodUnavailableBudgets.
//
// +kubebuilder:object:root=true
type PodUnavailableBudgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list, in no order.
	Items []PodUnavailableBudget `json:"items"`
}
