// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	// MaxStatefulSetMinReadySeconds is the largest value of
	// updateStrategy.rollingUpdate.minReadySeconds.
	MaxStatefulSetMinReadySeconds = 300

	// OwnedByStatefulSetAnnotation names the StatefulSet that made a claim ask for more storage.
	OwnedByStatefulSetAnnotation = "apps.kruise.io/owned-by-asts"

	// StatefulSetConditionFailedCreatePod says that a pod or a claim could not be
	// created.
	StatefulSetConditionFailedCreatePod appsv1.StatefulSetConditionType = "FailedCreatePod"
	// StatefulSetConditionFailedUpdatePod says that a pod could not be updated.
	StatefulSetConditionFailedUpdatePod appsv1.StatefulSetConditionType = "FailedUpdatePod"
	// StatefulSetConditionReconciling is there, and True, while the spec is not reached. A condition of podwright, by
	// the convention of kstatus: Flux and Helm wait while it is there.
	StatefulSetConditionReconciling appsv1.StatefulSetConditionType = "Reconciling"
	// StatefulSetConditionStalled is there, and True, when waiting does not help: the spec cannot be read.
	// Reconciling is not there then. A condition of podwright, by the same convention.
	StatefulSetConditionStalled appsv1.StatefulSetConditionType = "Stalled"
	// StatefulSetConditionHeldUp is there, and True, while something has kept the StatefulSet from its spec for a minute. The
	// message begins with the object that does. A condition of podwright.
	StatefulSetConditionHeldUp appsv1.StatefulSetConditionType = "HeldUp"
)

// PodUpdateStrategyType says how a pod of a StatefulSet is updated.
type PodUpdateStrategyType string

const (
	// RecreatePodUpdateStrategyType deletes the pod and creates it anew. The default.
	RecreatePodUpdateStrategyType PodUpdateStrategyType = "ReCreate"
	// InPlaceIfPossiblePodUpdateStrategyType updates the pod in place if the
	// change allows it, and recreates it otherwise.
	InPlaceIfPossiblePodUpdateStrategyType PodUpdateStrategyType = "InPlaceIfPossible"
	// InPlaceOnlyPodUpdateStrategyType updates the pod in place and never recreates it.
	InPlaceOnlyPodUpdateStrategyType PodUpdateStrategyType = "InPlaceOnly"
)

// StatefulSetSpec is the desired state of a StatefulSet.
type StatefulSetSpec struct {
	// Replicas is the desired number of pods. Default 1.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Selector selects the pods of this StatefulSet by label. It must match the
	// labels of the template and cannot be changed.
	Selector *metav1.LabelSelector `json:"selector"`

	// Template describes the pods. Pod n is named after the StatefulSet and n.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Template corev1.PodTemplateSpec `json:"template"`

	// VolumeClaimTemplates are claims that every pod gets a copy of, and keeps
	// when it is created anew. A change affects new pods only.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`

	// ServiceName names the headless service that the host names of the pods
	// belong to. A user creates the service. The name cannot be changed.
	// +optional
	ServiceName string `json:"serviceName,omitempty"`

	// PodManagementPolicy is OrderedReady (default) or Parallel, which waits for
	// no pod. OrderedReady creates pods one by one, each when those before it
	// are available, and deletes them in the opposite order. It cannot be
	// changed.
	// +optional
	PodManagementPolicy appsv1.PodManagementPolicyType `json:"podManagementPolicy,omitempty"`

	// UpdateStrategy tunes how pods move to a new revision.
	// +optional
	UpdateStrategy StatefulSetUpdateStrategy `json:"updateStrategy,omitempty"`

	// RevisionHistoryLimit is the number of unused revisions to keep. Default 10.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// Ordinals says which ordinal comes first. The controller ignores it unless
	// the feature StatefulSetStartOrdinal is on. Default: 0. OpenKruise has it
	// from 1.7 on.
	// +optional
	Ordinals *appsv1.StatefulSetOrdinals `json:"ordinals,omitempty"`

	// ReserveOrdinals has the numbers of reserveOrdinals in an object that is read, and ReserveOrdinalRanges has the
	// ranges. In an object that is written, numbers may stand in either. Reserved returns all.
	ReserveOrdinals []int `json:"-"`

	// ReserveOrdinalRanges lists ordinals that no pod gets; others take their place,
	// so that the number of pods stays the same. A pod that has one of them is
	// deleted. Each is a number of 0 or more, or a range such as "5-7", with both
	// of its ends. OpenKruise has ranges from 1.8 on. Default: none.
	// +optional
	ReserveOrdinalRanges ReservedOrdinals `json:"reserveOrdinals,omitempty"`

	// Lifecycle holds pods back for a controller of the user's. Its preNormal
	// hook has no effect unless the controller is told to keep to OpenKruise 1.8 or later.
	// +optional
	Lifecycle *lifecyclev1alpha1.Lifecycle `json:"lifecycle,omitempty"`

	// ScaleStrategy tunes how pods are created. Default: no limit.
	// +optional
	ScaleStrategy *StatefulSetScaleStrategy `json:"scaleStrategy,omitempty"`

	// PersistentVolumeClaimRetentionPolicy says what becomes of claims when
	// their pod or the StatefulSet is gone. Default: they are kept.
	// +optional
	PersistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`

	// VolumeClaimUpdateStrategy says what becomes of existing claims when
	// volumeClaimTemplates change. The controller ignores it unless the feature
	// StatefulSetAutoResizePVCGate is on. OpenKruise has it from 1.8 on.
	// +optional
	VolumeClaimUpdateStrategy *StatefulSetVolumeClaimUpdateStrategy `json:"volumeClaimUpdateStrategy,omitempty"`
}

// StatefulSetVolumeClaimUpdateStrategyType says when claims get the size of their claim template.
type StatefulSetVolumeClaimUpdateStrategyType string

const (
	// OnPodRollingUpdateVolumeClaimUpdateStrategyType grows the claims of a pod when
	// the rolling update comes to it, before the pod itself is updated.
	OnPodRollingUpdateVolumeClaimUpdateStrategyType StatefulSetVolumeClaimUpdateStrategyType = "OnPodRollingUpdate"
	// OnDeleteVolumeClaimUpdateStrategyType leaves existing claims alone. The default.
	OnDeleteVolumeClaimUpdateStrategyType StatefulSetVolumeClaimUpdateStrategyType = "OnDelete"
)

// StatefulSetVolumeClaimUpdateStrategy says what becomes of existing claims when
// their claim template changes.
type StatefulSetVolumeClaimUpdateStrategy struct {
	// Type is OnPodRollingUpdate, which grows claims, or OnDelete (default), which
	// leaves them alone until a user deletes them.
	// +optional
	Type StatefulSetVolumeClaimUpdateStrategyType `json:"type,omitempty"`
}

// StatefulSetUpdateStrategy tunes how the pods of a StatefulSet are updated.
type StatefulSetUpdateStrategy struct {
	// Type is RollingUpdate (default), or OnDelete, which gives a pod the new
	// revision only when another client deletes it.
	// +optional
	Type appsv1.StatefulSetUpdateStrategyType `json:"type,omitempty"`

	// RollingUpdate tunes the type RollingUpdate, and must be absent with
	// OnDelete. Absent, all of its fields have their defaults.
	// +optional
	RollingUpdate *RollingUpdateStatefulSetStrategy `json:"rollingUpdate,omitempty"`
}

// RollingUpdateStatefulSetStrategy tunes a rolling update.
type RollingUpdateStatefulSetStrategy struct {
	// Partition holds pods back at the old revision: those with an ordinal
	// below it, or, with unorderedUpdate, that many pods. Default 0.
	// +optional
	Partition *int32 `json:"partition,omitempty"`

	// MaxUnavailable is the number of pods that may be unavailable during an
	// update. It is a number, or a percentage of the replicas, rounded down,
	// but 1 at least. Everything but the number 1 needs podManagementPolicy
	// Parallel. Default 1.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// PodUpdatePolicy is ReCreate (default), InPlaceIfPossible or InPlaceOnly.
	// The last two need the readiness gate InPlaceUpdateReady in the template.
	// +optional
	PodUpdatePolicy PodUpdateStrategyType `json:"podUpdatePolicy,omitempty"`

	// Paused stops the update. Default false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// UnorderedUpdate updates pods in another order than from the highest
	// ordinal down. It needs podManagementPolicy Parallel. Default: in order.
	// +optional
	UnorderedUpdate *UnorderedUpdateStrategy `json:"unorderedUpdate,omitempty"`

	// InPlaceUpdateStrategy tunes in-place updates.
	// +optional
	InPlaceUpdateStrategy *inplacev1alpha1.InPlaceUpdateStrategy `json:"inPlaceUpdateStrategy,omitempty"`

	// MinReadySeconds is the time in seconds for which a pod must be ready to
	// count as available: 0 to 300. Default 0.
	// +optional
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`
}

// UnorderedUpdateStrategy says which pods are updated first.
type UnorderedUpdateStrategy struct {
	// PriorityStrategy orders the pods by their labels. Pods that it does not
	// tell apart, or all without it, follow from the highest ordinal down.
	// +optional
	PriorityStrategy *inplacev1alpha1.UpdatePriorityStrategy `json:"priorityStrategy,omitempty"`
}

// StatefulSetScaleStrategy tunes how the pods of a StatefulSet are created.
type StatefulSetScaleStrategy struct {
	// MaxUnavailable is the number of unavailable pods at which no more are
	// created. It is a number, or a percentage of the replicas, rounded down,
	// but 1 at least. Everything but the number 1 needs podManagementPolicy
	// Parallel. Default: no limit.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// StatefulSetPersistentVolumeClaimRetentionPolicy says what becomes of the
// claims that were made of volumeClaimTemplates.
type StatefulSetPersistentVolumeClaimRetentionPolicy struct {
	// WhenDeleted is about the deletion of the StatefulSet: Retain (default)
	// keeps the claims, Delete deletes them after their pods.
	// +optional
	WhenDeleted appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenDeleted,omitempty"`

	// WhenScaled is about pods that a smaller number of replicas leaves over:
	// Retain (default) keeps their claims, Delete deletes them after the pods.
	// +optional
	WhenScaled appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenScaled,omitempty"`
}

// StatefulSetStatus is the observed state of a StatefulSet.
type StatefulSetStatus struct {
	// ObservedGeneration is the generation that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Replicas is the number of pods, those that are being deleted included.
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is the number of ready pods.
	ReadyReplicas int32 `json:"readyReplicas"`

	// AvailableReplicas is the number of pods that have been ready for
	// minReadySeconds.
	AvailableReplicas int32 `json:"availableReplicas"`

	// CurrentReplicas is the number of pods at the current revision that are
	// not being deleted.
	CurrentReplicas int32 `json:"currentReplicas"`

	// UpdatedReplicas is the number of pods at the update revision that are not
	// being deleted.
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// UpdatedReadyReplicas is the number of ready pods at the update revision.
	// +optional
	UpdatedReadyReplicas int32 `json:"updatedReadyReplicas,omitempty"`

	// UpdatedAvailableReplicas is the number of available pods at the update
	// revision. OpenKruise has it from 1.5 on.
	// +optional
	UpdatedAvailableReplicas int32 `json:"updatedAvailableReplicas"`

	// CurrentRevision is the name of the revision that pods are updated from.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`

	// UpdateRevision is the name of the revision of the present template.
	// +optional
	UpdateRevision string `json:"updateRevision,omitempty"`

	// CollisionCount counts hash collisions of revisions.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`

	// Conditions say what failed last, and whether the StatefulSet is on its way to its spec.
	// +optional
	Conditions []appsv1.StatefulSetCondition `json:"conditions,omitempty"`

	// LabelSelector is the selector in the form that the scale subresource wants.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`

	// VolumeClaims counts the claims of every claim template, in the order of the
	// templates. OpenKruise has it from 1.8 on.
	// +optional
	VolumeClaims []StatefulSetVolumeClaimStatus `json:"volumeClaims,omitempty"`
}

// StatefulSetVolumeClaimStatus counts the claims of a claim template.
type StatefulSetVolumeClaimStatus struct {
	// VolumeClaimName is the name of the claim template.
	VolumeClaimName string `json:"volumeClaimName"`

	// CompatibleReplicas is the number of pods whose claim asks for what the
	// template asks for, or for more storage.
	CompatibleReplicas int32 `json:"compatibleReplicas"`

	// CompatibleReadyReplicas is the number of those whose claim has the storage
	// that it asks for.
	CompatibleReadyReplicas int32 `json:"compatibleReadyReplicas"`
}

// StatefulSet keeps a number of pods running that have names, volumes and an
// order of their own, and updates them in place if it can.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:shortName=sts;asts
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".spec.replicas",description="The desired number of pods."
// +kubebuilder:printcolumn:name="CURRENT",type="integer",JSONPath=".status.replicas",description="The number of all pods."
// +kubebuilder:printcolumn:name="UPDATED",type="integer",JSONPath=".status.updatedReplicas",description="The number of pods updated."
// +kubebuilder:printcolumn:name="READY",type="integer",JSONPath=".status.readyReplicas",description="The number of pods ready."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="CONTAINERS",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].name",description="The containers of the template."
// +kubebuilder:printcolumn:name="IMAGES",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].image",description="The images of the template."
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a StatefulSet needs a spec with a selector and a template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.replicas",rule=`!has(self.spec) || !has(self.spec.replicas) || self.spec.replicas >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || has(self.spec.selector.matchLabels) && size(self.spec.selector.matchLabels) > 0 || has(self.spec.selector.matchExpressions) && size(self.spec.selector.matchExpressions) > 0`,reason=FieldValueRequired,message="must not be empty: give matchLabels or matchExpressions that match the labels of the template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.selector.matchExpressions) || self.spec.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.selector.matchLabels) ? self.spec.selector.matchLabels : {}) == (has(oldSelf.spec.selector.matchLabels) ? oldSelf.spec.selector.matchLabels : {}) && (has(self.spec.selector.matchExpressions) ? self.spec.selector.matchExpressions : []) == (has(oldSelf.spec.selector.matchExpressions) ? oldSelf.spec.selector.matchExpressions : [])`,message="cannot be changed: create another StatefulSet for another selector"
// +kubebuilder:validation:XValidation:fieldPath=".spec.serviceName",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.serviceName) ? self.spec.serviceName : "") == (has(oldSelf.spec.serviceName) ? oldSelf.spec.serviceName : "")`,message="cannot be changed: create another StatefulSet for another service"
// +kubebuilder:validation:XValidation:fieldPath=".spec.podManagementPolicy",rule=`!has(self.spec) || !has(self.spec.podManagementPolicy) || size(self.spec.podManagementPolicy) == 0 || self.spec.podManagementPolicy in ['OrderedReady', 'Parallel']`,messageExpression=`'must be OrderedReady or Parallel, is ' + self.spec.podManagementPolicy`
// +kubebuilder:validation:XValidation:fieldPath=".spec.podManagementPolicy",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.podManagementPolicy) && size(self.spec.podManagementPolicy) > 0 ? self.spec.podManagementPolicy : 'OrderedReady') == (has(oldSelf.spec.podManagementPolicy) && size(oldSelf.spec.podManagementPolicy) > 0 ? oldSelf.spec.podManagementPolicy : 'OrderedReady')`,message="cannot be changed: create another StatefulSet for another policy"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.type",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.type) || size(self.spec.updateStrategy.type) == 0 || self.spec.updateStrategy.type in ['RollingUpdate', 'OnDelete']`,messageExpression=`'must be RollingUpdate or OnDelete, is ' + self.spec.updateStrategy.type`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.type) || self.spec.updateStrategy.type != 'OnDelete' || !has(self.spec.updateStrategy.rollingUpdate)`,reason=FieldValueForbidden,message="must be absent with the type OnDelete, which updates no pods: remove it or use RollingUpdate"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.partition",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.partition) || self.spec.updateStrategy.rollingUpdate.partition >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.maxUnavailable) || (type(self.spec.updateStrategy.rollingUpdate.maxUnavailable) == int ? self.spec.updateStrategy.rollingUpdate.maxUnavailable >= 1 : self.spec.updateStrategy.rollingUpdate.maxUnavailable.matches('^[+]?0*[1-9][0-9]*%?$'))`,messageExpression=`'must be a number of pods of 1 or more, or a whole percentage of 1% or more, is ' + string(self.spec.updateStrategy.rollingUpdate.maxUnavailable)`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.maxUnavailable) || has(self.spec.podManagementPolicy) && self.spec.podManagementPolicy == 'Parallel' || type(self.spec.updateStrategy.rollingUpdate.maxUnavailable) == int && self.spec.updateStrategy.rollingUpdate.maxUnavailable == 1`,message="must be the number 1 unless podManagementPolicy is Parallel: pods in order are unavailable one at a time"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.podUpdatePolicy",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.podUpdatePolicy) || size(self.spec.updateStrategy.rollingUpdate.podUpdatePolicy) == 0 || self.spec.updateStrategy.rollingUpdate.podUpdatePolicy in ['ReCreate', 'InPlaceIfPossible', 'InPlaceOnly']`,messageExpression=`'must be ReCreate, InPlaceIfPossible or InPlaceOnly, is ' + self.spec.updateStrategy.rollingUpdate.podUpdatePolicy`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.unorderedUpdate",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate) || has(self.spec.podManagementPolicy) && self.spec.podManagementPolicy == 'Parallel'`,message="needs podManagementPolicy Parallel"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.orderPriority) || size(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority) == 0 || size(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.orderPriority) == 0`,message="must hold weightPriority or orderPriority, not both"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority) || self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority.all(t, t.weight >= 0 && t.weight <= 100)`,message="every weight must be between 0 and 100"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority) || self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority.all(t, has(t.matchSelector.matchLabels) && size(t.matchSelector.matchLabels) > 0 || has(t.matchSelector.matchExpressions) && size(t.matchSelector.matchExpressions) > 0)`,message="every matchSelector must hold matchLabels or matchExpressions"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.orderPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy) || !has(self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.orderPriority) || self.spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.orderPriority.all(t, size(t.orderedKey) > 0)`,message="every orderedKey must name a label"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.minReadySeconds",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || !has(self.spec.updateStrategy.rollingUpdate.minReadySeconds) || self.spec.updateStrategy.rollingUpdate.minReadySeconds >= 0 && self.spec.updateStrategy.rollingUpdate.minReadySeconds <= 300`,message="must be between 0 and 300"
// +kubebuilder:validation:XValidation:fieldPath=".spec.ordinals.start",rule=`!has(self.spec) || !has(self.spec.ordinals) || !has(self.spec.ordinals.start) || self.spec.ordinals.start >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.scaleStrategy.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.scaleStrategy) || !has(self.spec.scaleStrategy.maxUnavailable) || (type(self.spec.scaleStrategy.maxUnavailable) == int ? self.spec.scaleStrategy.maxUnavailable >= 1 : self.spec.scaleStrategy.maxUnavailable.matches('^[+]?0*[1-9][0-9]*%?$'))`,messageExpression=`'must be a number of pods of 1 or more, or a whole percentage of 1% or more, is ' + string(self.spec.scaleStrategy.maxUnavailable)`
// +kubebuilder:validation:XValidation:fieldPath=".spec.scaleStrategy.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.scaleStrategy) || !has(self.spec.scaleStrategy.maxUnavailable) || has(self.spec.podManagementPolicy) && self.spec.podManagementPolicy == 'Parallel' || type(self.spec.scaleStrategy.maxUnavailable) == int && self.spec.scaleStrategy.maxUnavailable == 1`,message="must be the number 1 unless podManagementPolicy is Parallel: pods in order are unavailable one at a time"
// +kubebuilder:validation:XValidation:fieldPath=".spec.persistentVolumeClaimRetentionPolicy.whenDeleted",rule=`!has(self.spec) || !has(self.spec.persistentVolumeClaimRetentionPolicy) || !has(self.spec.persistentVolumeClaimRetentionPolicy.whenDeleted) || size(self.spec.persistentVolumeClaimRetentionPolicy.whenDeleted) == 0 || self.spec.persistentVolumeClaimRetentionPolicy.whenDeleted in ['Retain', 'Delete']`,messageExpression=`'must be Retain or Delete, is ' + self.spec.persistentVolumeClaimRetentionPolicy.whenDeleted`
// +kubebuilder:validation:XValidation:fieldPath=".spec.persistentVolumeClaimRetentionPolicy.whenScaled",rule=`!has(self.spec) || !has(self.spec.persistentVolumeClaimRetentionPolicy) || !has(self.spec.persistentVolumeClaimRetentionPolicy.whenScaled) || size(self.spec.persistentVolumeClaimRetentionPolicy.whenScaled) == 0 || self.spec.persistentVolumeClaimRetentionPolicy.whenScaled in ['Retain', 'Delete']`,messageExpression=`'must be Retain or Delete, is ' + self.spec.persistentVolumeClaimRetentionPolicy.whenScaled`
type StatefulSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec StatefulSetSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status StatefulSetStatus `json:"status,omitempty"`
}

// StatefulSetList is a list of StatefulSets.
//
// +kubebuilder:object:root=true
type StatefulSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []StatefulSet `json:"items"`
}
