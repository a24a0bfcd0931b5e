// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	// DaemonSetProgressiveCreateAnnotation, when "true" on a DaemonSet, creates new
	// pods on as many nodes only as the partition lets be updated.
	DaemonSetProgressiveCreateAnnotation = "daemonset.kruise.io/progressive-create-pod"

	// DefaultDaemonSetBurstReplicas is the default of spec.burstReplicas.
	DefaultDaemonSetBurstReplicas = 250
)

// DaemonSetUpdateStrategyType says when the pods of a DaemonSet are updated.
type DaemonSetUpdateStrategyType string

const (
	// RollingUpdateDaemonSetStrategyType updates pods by and by, as rollingUpdate says.
	// The default.
	RollingUpdateDaemonSetStrategyType DaemonSetUpdateStrategyType = "RollingUpdate"
	// OnDeleteDaemonSetStrategyType leaves it to others to delete pods; they come back
	// at the new template.
	OnDeleteDaemonSetStrategyType DaemonSetUpdateStrategyType = "OnDelete"
)

// RollingUpdateType says how the pod of a node is updated.
type RollingUpdateType string

const (
	// StandardRollingUpdateType recreates the pod. The default.
	StandardRollingUpdateType RollingUpdateType = "Standard"
	// InplaceRollingUpdateType updates the pod in place if that is possible, and
	// recreates it otherwise.
	InplaceRollingUpdateType RollingUpdateType = "InPlaceIfPossible"
	// DeprecatedSurgingRollingUpdateType is an old way to write Standard with a maxSurge.
	DeprecatedSurgingRollingUpdateType RollingUpdateType = "Surging"
)

// RollingUpdateDaemonSet says how the pods of a DaemonSet are updated.
type RollingUpdateDaemonSet struct {
	// Type is Standard (default) or InPlaceIfPossible. Surging is read as Standard
	// with a maxSurge of 1.
	// +optional
	Type RollingUpdateType `json:"rollingUpdateType,omitempty"`

	// MaxUnavailable is how many nodes may be without an available pod before an
	// update takes one more out of service. It is a number, or a percentage of the
	// nodes that should run a pod, rounded up. It counts pods that are unavailable
	// for whatever reason. Default 1, and 0 if maxSurge is not 0.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// MaxSurge is on how many nodes a new pod may run beside the old one until it
	// is available. It is a number, or a percentage of the nodes that should run
	// a pod, rounded up. One of maxSurge and maxUnavailable is 0. Default 0.
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// Selector selects the nodes whose pods are updated, by the labels of the node.
	// Default: all nodes.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// Partition is the number of nodes whose pods stay at the old template. It is
	// a number, or a percentage of the nodes that should run a pod, as OpenKruise has
	// it from 1.9 on. Default 0.
	// +optional
	Partition *intstr.IntOrString `json:"partition,omitempty"`

	// Paused stops the update; pods are still created on new nodes. Default false.
	// +optional
	Paused *bool `json:"paused,omitempty"`
}

// DaemonSetUpdateStrategy says when and how the pods of a DaemonSet are updated.
type DaemonSetUpdateStrategy struct {
	// Type is RollingUpdate (default) or OnDelete.
	// +optional
	Type DaemonSetUpdateStrategyType `json:"type,omitempty"`

	// RollingUpdate says how, with the type RollingUpdate.
	// +optional
	RollingUpdate *RollingUpdateDaemonSet `json:"rollingUpdate,omitempty"`
}

// DaemonSetSpec says what to run on the nodes, and how to update it.
type DaemonSetSpec struct {
	// Selector selects the pods. It must match the labels of the template. It may
	// change: pods that it no longer matches are released.
	Selector *metav1.LabelSelector `json:"selector"`

	// Template describes the pods. They run on every node that its node selector,
	// its required node affinity and its tolerations allow.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Template corev1.PodTemplateSpec `json:"template"`

	// UpdateStrategy says how pods are updated to a new template.
	// +optional
	UpdateStrategy DaemonSetUpdateStrategy `json:"updateStrategy,omitempty"`

	// MinReadySeconds is how long, in seconds, a pod must be ready to be available.
	// Default 0.
	// +optional
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`

	// BurstReplicas is how many pods are created, deleted and updated in place at
	// once. It is a number, or a percentage of the nodes that should run a pod,
	// rounded down, at least one. Default 250.
	// +optional
	BurstReplicas *intstr.IntOrString `json:"burstReplicas,omitempty"`

	// RevisionHistoryLimit is how many old templates are kept that no pod has.
	// Default 10.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// Lifecycle holds the hooks of the pods; only preDelete has an effect.
	// +optional
	Lifecycle *lifecyclev1alpha1.Lifecycle `json:"lifecycle,omitempty"`
}

// DaemonSetStatus is the observed state of a DaemonSet. A node that should run a pod
// is one that the template allows; of several pods on a node the oldest one counts.
type DaemonSetStatus struct {
	// CurrentNumberScheduled is the number of nodes that should run a pod and have one.
	CurrentNumberScheduled int32 `json:"currentNumberScheduled"`

	// NumberMisscheduled is the number of nodes that have a pod and should not.
	NumberMisscheduled int32 `json:"numberMisscheduled"`

	// DesiredNumberScheduled is the number of nodes that should run a pod.
	DesiredNumberScheduled int32 `json:"desiredNumberScheduled"`

	// NumberReady is the number of nodes that should run a pod and have a ready one.
	NumberReady int32 `json:"numberReady"`

	// ObservedGeneration is the generation that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// UpdatedNumberScheduled is the number of nodes that should run a pod and have
	// one of the present template.
	UpdatedNumberScheduled int32 `json:"updatedNumberScheduled"`

	// NumberAvailable is the number of nodes that should run a pod and have one that
	// has been ready for minReadySeconds.
	// +optional
	NumberAvailable int32 `json:"numberAvailable"`

	// NumberUnavailable is the number of nodes that should run a pod and have no
	// available one.
	// +optional
	NumberUnavailable int32 `json:"numberUnavailable"`

	// CollisionCount counts the collisions of names of revisions.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`

	// Conditions say what is wrong, and whether the DaemonSet is on its way to its spec.
	// +optional
	Conditions []DaemonSetCondition `json:"conditions,omitempty"`

	// DaemonSetHash is the hash of the revision of the present template.
	// +optional
	DaemonSetHash string `json:"daemonSetHash"`

	// CurrentRevision names the revision from which pods are created on nodes that
	// the partition or the selector of the update holds back. It is that of the
	// present template once all nodes have it.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`
}

// DaemonSetConditionType is the type of a DaemonSetCondition.
type DaemonSetConditionType string

const (
	// DaemonSetConditionFailedCreatePod says that pods could not be created.
	DaemonSetConditionFailedCreatePod DaemonSetConditionType = "FailedCreatePod"
	// DaemonSetConditionFailedUpdatePod says that pods could not be updated or deleted.
	DaemonSetConditionFailedUpdatePod DaemonSetConditionType = "FailedUpdatePod"
	// DaemonSetConditionReconciling is there, and True, while the spec is not reached. A condition of podwright, by
	// the convention of kstatus: Flux and Helm wait while it is there.
	DaemonSetConditionReconciling DaemonSetConditionType = "Reconciling"
	// DaemonSetConditionStalled is there, and True, when waiting does not help: the spec cannot be read. Reconciling
	// is not there then. A condition of podwright, by the same convention.
	DaemonSetConditionStalled DaemonSetConditionType = "Stalled"
	// DaemonSetConditionHeldUp is there, and True, while something has kept the DaemonSet from its spec for a minute. The message
	// begins with the object that does. A condition of podwright.
	DaemonSetConditionHeldUp DaemonSetConditionType = "HeldUp"
)

// DaemonSetCondition describes one aspect of a DaemonSet.
type DaemonSetCondition struct {
	// Type is what the condition is about.
	Type DaemonSetConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// DaemonSet runs a pod on every node that fits it, and updates the pods node by node.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=daemon;ads
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".status.desiredNumberScheduled",description="The number of nodes that should run a pod."
// +kubebuilder:printcolumn:name="CURRENT",type="integer",JSONPath=".status.currentNumberScheduled",description="The number of those that have one."
// +kubebuilder:printcolumn:name="READY",type="integer",JSONPath=".status.numberReady",description="The number of those whose pod is ready."
// +kubebuilder:printcolumn:name="UP-TO-DATE",type="integer",JSONPath=".status.updatedNumberScheduled",description="The number of those whose pod has the present template."
// +kubebuilder:printcolumn:name="AVAILABLE",type="integer",JSONPath=".status.numberAvailable",description="The number of those whose pod is available."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="CONTAINERS",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].name",description="The containers of the template."
// +kubebuilder:printcolumn:name="IMAGES",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].image",description="The images of the template."
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a DaemonSet needs a spec with a selector and a template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || has(self.spec.selector.matchLabels) && size(self.spec.selector.matchLabels) > 0 || has(self.spec.selector.matchExpressions) && size(self.spec.selector.matchExpressions) > 0`,reason=FieldValueRequired,message="must not be empty: give matchLabels or matchExpressions that match the labels of the template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.selector.matchExpressions) || self.spec.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.minReadySeconds",rule=`!has(self.spec) || !has(self.spec.minReadySeconds) || self.spec.minReadySeconds >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.revisionHistoryLimit",rule=`!has(self.spec) || !has(self.spec.revisionHistoryLimit) || self.spec.revisionHistoryLimit >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.lifecycle.inPlaceUpdate",rule=`!has(self.spec) || !has(self.spec.lifecycle) || !has(self.spec.lifecycle.inPlaceUpdate)`,reason=FieldValueForbidden,message="must be absent: a DaemonSet has no such hook"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.type",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.type) || size(self.spec.updateStrategy.type) == 0 || self.spec.updateStrategy.type in ['RollingUpdate', 'OnDelete']`,messageExpression=`'must be RollingUpdate or OnDelete, is ' + self.spec.updateStrategy.type`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.rollingUpdateType",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'OnDelete' || !has(self.spec.updateStrategy.rollingUpdate.rollingUpdateType) || size(self.spec.updateStrategy.rollingUpdate.rollingUpdateType) == 0 || self.spec.updateStrategy.rollingUpdate.rollingUpdateType in ['Standard', 'InPlaceIfPossible', 'Surging']`,messageExpression=`'must be Standard or InPlaceIfPossible, is ' + self.spec.updateStrategy.rollingUpdate.rollingUpdateType`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.partition",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'OnDelete' || !has(self.spec.updateStrategy.rollingUpdate.partition) || (type(self.spec.updateStrategy.rollingUpdate.partition) == int ? self.spec.updateStrategy.rollingUpdate.partition >= 0 : self.spec.updateStrategy.rollingUpdate.partition.matches('^0*(100|[0-9]{1,2})%$'))`,messageExpression=`'must be a number of nodes, 0 or more, or a whole percentage up to 100%, is ' + string(self.spec.updateStrategy.rollingUpdate.partition)`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'OnDelete' || !has(self.spec.updateStrategy.rollingUpdate.maxUnavailable) || (type(self.spec.updateStrategy.rollingUpdate.maxUnavailable) == int ? self.spec.updateStrategy.rollingUpdate.maxUnavailable >= 0 : self.spec.updateStrategy.rollingUpdate.maxUnavailable.matches('^0*(100|[0-9]{1,2})%$'))`,messageExpression=`'must be a number of nodes, 0 or more, or a whole percentage up to 100%, is ' + string(self.spec.updateStrategy.rollingUpdate.maxUnavailable)`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.maxSurge",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'OnDelete' || !has(self.spec.updateStrategy.rollingUpdate.maxSurge) || (type(self.spec.updateStrategy.rollingUpdate.maxSurge) == int ? self.spec.updateStrategy.rollingUpdate.maxSurge >= 0 : self.spec.updateStrategy.rollingUpdate.maxSurge.matches('^0*(100|[0-9]{1,2})%$'))`,messageExpression=`'must be a number of nodes, 0 or more, or a whole percentage up to 100%, is ' + string(self.spec.updateStrategy.rollingUpdate.maxSurge)`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.maxSurge",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'OnDelete' || !has(self.spec.updateStrategy.rollingUpdate.maxSurge) || !has(self.spec.updateStrategy.rollingUpdate.rollingUpdateType) || self.spec.updateStrategy.rollingUpdate.rollingUpdateType != 'InPlaceIfPossible' || (type(self.spec.updateStrategy.rollingUpdate.maxSurge) == int ? self.spec.updateStrategy.rollingUpdate.maxSurge <= 0 : !self.spec.updateStrategy.rollingUpdate.maxSurge.matches('[1-9]'))`,message="must be 0 with the type InPlaceIfPossible, which adds no pods: remove it or use Standard"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.maxSurge",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'OnDelete' || !has(self.spec.updateStrategy.rollingUpdate.maxUnavailable) || (type(self.spec.updateStrategy.rollingUpdate.maxUnavailable) == int ? self.spec.updateStrategy.rollingUpdate.maxUnavailable <= 0 : !self.spec.updateStrategy.rollingUpdate.maxUnavailable.matches('[1-9]')) || (has(self.spec.updateStrategy.rollingUpdate.maxSurge) ? (type(self.spec.updateStrategy.rollingUpdate.maxSurge) == int ? self.spec.updateStrategy.rollingUpdate.maxSurge <= 0 : !self.spec.updateStrategy.rollingUpdate.maxSurge.matches('[1-9]')) : !has(self.spec.updateStrategy.rollingUpdate.rollingUpdateType) || self.spec.updateStrategy.rollingUpdate.rollingUpdateType != 'Surging')`,message="must be 0 if maxUnavailable is not: an update takes pods out of service or adds some, not both"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.rollingUpdate.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'OnDelete' || !has(self.spec.updateStrategy.rollingUpdate.maxUnavailable) || (type(self.spec.updateStrategy.rollingUpdate.maxUnavailable) == int ? self.spec.updateStrategy.rollingUpdate.maxUnavailable != 0 : !self.spec.updateStrategy.rollingUpdate.maxUnavailable.matches('^0+%$')) || (has(self.spec.updateStrategy.rollingUpdate.maxSurge) ? (type(self.spec.updateStrategy.rollingUpdate.maxSurge) == int ? self.spec.updateStrategy.rollingUpdate.maxSurge > 0 : self.spec.updateStrategy.rollingUpdate.maxSurge.matches('[1-9]')) : has(self.spec.updateStrategy.rollingUpdate.rollingUpdateType) && self.spec.updateStrategy.rollingUpdate.rollingUpdateType == 'Surging')`,message="must not be 0 while maxSurge is 0, because no pod could ever be updated: raise one of them"
type DaemonSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec DaemonSetSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status DaemonSetStatus `json:"status,omitempty"`
}

// DaemonSetList is a list of DaemonSets.
//
// +kubebuilder:object:root=true
type DaemonSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []DaemonSet `json:"items"`
}
