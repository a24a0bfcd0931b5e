package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	// CloneSetInstanceIDLabel is on the pods of a CloneSet and on their
	// claims: five characters, the end of the pod's name, which tie a claim to its pod.
	CloneSetInstanceIDLabel = "apps.kruise.io/cloneset-instance-id"

	// CloneSetScalingExcludePreparingDeleteLabel, when "true" on a CloneSet,
	// leaves pods in the state PreparingDelete out of the number of replicas.
	CloneSetScalingExcludePreparingDeleteLabel = "apps.kruise.io/cloneset-scaling-exclude-preparing-delete"

	// DefaultCloneSetMaxUnavailable is the default of updateStrategy.maxUnavailable.
	DefaultCloneSetMaxUnavailable = "20%"
)

// CloneSetUpdateStrategyType says how the pods of a CloneSet are updated.
type CloneSetUpdateStrategyType string

const (
	// RecreateCloneSetUpdateStrategyType deletes a pod and creates a new one. The default.
	RecreateCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "ReCreate"
	// InPlaceIfPossibleCloneSetUpdateStrategyType updates a pod in place where
	// the change allows it, and recreates the pod otherwise.
	InPlaceIfPossibleCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "InPlaceIfPossible"
	// InPlaceOnlyCloneSetUpdateStrategyType updates pods in place and never recreates one.
	InPlaceOnlyCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "InPlaceOnly"
)

// CloneSetSpec is the desired state of a CloneSet.
type CloneSetSpec struct {
	// Replicas is the desired number of pods. Default 1.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Selector selects the pods of this CloneSet by label. It must match the
	// labels of the template and cannot be changed.
	Selector *metav1.LabelSelector `json:"selector"`

	// Template describes the pods.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Template corev1.PodTemplateSpec `json:"template"`

	// VolumeClaimTemplates are claims that every pod gets a copy of. A change
	// affects new pods only.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`

	// ScaleStrategy tunes how pods are created and deleted.
	// +optional
	ScaleStrategy CloneSetScaleStrategy `json:"scaleStrategy,omitempty"`

	// UpdateStrategy tunes how pods move to a new revision.
	// +optional
	UpdateStrategy CloneSetUpdateStrategy `json:"updateStrategy,omitempty"`

	// RevisionHistoryLimit is the number of unused revisions to keep. Default 10.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// MinReadySeconds is the time in seconds for which a pod must be ready to
	// count as available. Default 0.
	// +optional
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`

	// Lifecycle holds pods back for a controller of the user's.
	// +optional
	Lifecycle *lifecyclev1alpha1.Lifecycle `json:"lifecycle,omitempty"`
}

// CloneSetScaleStrategy tunes how the pods of a CloneSet are created and deleted.
type CloneSetScaleStrategy struct {
	// PodsToDelete names pods to be deleted first. Names of pods that no
	// longer exist are removed from the list by the controller.
	// +optional
	PodsToDelete []string `json:"podsToDelete,omitempty"`

	// MaxUnavailable limits how many unavailable pods there may be while pods
	// are created: a number, or a percentage of the replicas, rounded up.
	// Default: no limit.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// DisablePVCReuse deletes the claims of pods that are gone, instead of
	// giving them to the pods created next.
	// +optional
	DisablePVCReuse bool `json:"disablePVCReuse,omitempty"`
}

// CloneSetUpdateStrategy tunes how the pods of a CloneSet are updated.
type CloneSetUpdateStrategy struct {
	// Type is ReCreate (default), InPlaceIfPossible or InPlaceOnly.
	// +optional
	Type CloneSetUpdateStrategyType `json:"type,omitempty"`

	// Partition is the number of pods that stay at the old revision: a number,
	// or a percentage of the replicas, rounded up, but less than all replicas
	// for a percentage under 100%. Default 0.
	// +optional
	Partition *intstr.IntOrString `json:"partition,omitempty"`

	// MaxUnavailable is the number of pods that may be unavailable during an
	// update: a number, or a percentage of the replicas, rounded up where
	// maxSurge is 0 and down otherwise. Default 20%.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// MaxSurge is the number of pods that may exist beyond the replicas during
	// an update or while specified pods are replaced: a number, or a
	// percentage of the replicas, rounded up. Default 0.
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// Paused stops the update. Default false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// PriorityStrategy says which pods are updated first.
	// +optional
	PriorityStrategy *inplacev1alpha1.UpdatePriorityStrategy `json:"priorityStrategy,omitempty"`

	// ScatterStrategy spreads pods with certain labels over the whole update.
	// +optional
	ScatterStrategy inplacev1alpha1.UpdateScatterStrategy `json:"scatterStrategy,omitempty"`

	// InPlaceUpdateStrategy tunes in-place updates.
	// +optional
	InPlaceUpdateStrategy *inplacev1alpha1.InPlaceUpdateStrategy `json:"inPlaceUpdateStrategy,omitempty"`
}

// CloneSetStatus is the observed state of a CloneSet.
type CloneSetStatus struct {
	// ObservedGeneration is the generation that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Replicas is the number of active pods.
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is the number of ready pods.
	ReadyReplicas int32 `json:"readyReplicas"`

	// AvailableReplicas is the number of pods that have been ready for
	// minReadySeconds and that no lifecycle hook holds.
	AvailableReplicas int32 `json:"availableReplicas"`

	// UpdatedReplicas is the number of pods at the update revision.
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// UpdatedReadyReplicas is the number of ready pods at the update revision.
	UpdatedReadyReplicas int32 `json:"updatedReadyReplicas"`

	// ExpectedUpdatedReplicas is the number of pods that the partition lets
	// move to the update revision.
	// +optional
	ExpectedUpdatedReplicas int32 `json:"expectedUpdatedReplicas,omitempty"`

	// UpdateRevision is the name of the revision of the present template.
	// +optional
	UpdateRevision string `json:"updateRevision,omitempty"`

	// CurrentRevision is the name of the revision that pods are updated from.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`

	// CollisionCount counts hash collisions of revisions.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`

	// Conditions say what failed last.
	// +optional
	Conditions []CloneSetCondition `json:"conditions,omitempty"`

	// LabelSelector is the selector in the form that the scale subresource wants.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`
}

// CloneSetConditionType is the type of a CloneSetCondition.
type CloneSetConditionType string

const (
	// CloneSetConditionFailedScale says that pods or claims could not be created or deleted.
	CloneSetConditionFailedScale CloneSetConditionType = "FailedScale"
	// CloneSetConditionFailedUpdate says that pods could not be updated.
	CloneSetConditionFailedUpdate CloneSetConditionType = "FailedUpdate"
)

// CloneSetCondition describes one aspect of a CloneSet.
type CloneSetCondition struct {
	Type   CloneSetConditionType  `json:"type"`
	Status corev1.ConditionStatus `json:"status"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// CloneSet keeps a number of interchangeable pods running, and updates them in
// place where it can.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:shortName=clone
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".spec.replicas",description="The desired number of pods."
// +kubebuilder:printcolumn:name="UPDATED",type="integer",JSONPath=".status.updatedReplicas",description="The number of pods updated."
// +kubebuilder:printcolumn:name="UPDATED_READY",type="integer",JSONPath=".status.updatedReadyReplicas",description="The number of pods updated and ready."
// +kubebuilder:printcolumn:name="READY",type="integer",JSONPath=".status.readyReplicas",description="The number of pods ready."
// +kubebuilder:printcolumn:name="TOTAL",type="integer",JSONPath=".status.replicas",description="The number of all active pods."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="CONTAINERS",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].name",description="The containers of the template."
// +kubebuilder:printcolumn:name="IMAGES",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].image",description="The images of the template."
// +kubebuilder:printcolumn:name="SELECTOR",type="string",priority=1,JSONPath=".status.labelSelector",description="The selector of the pods."
type CloneSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CloneSetSpec   `json:"spec,omitempty"`
	Status CloneSetStatus `json:"status,omitempty"`
}

// CloneSetList is a list of CloneSets.
//
// +kubebuilder:object:root=true
type CloneSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CloneSet `json:"items"`
}
