// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	// CloneSetClaimReusedAnnotation is on claims that a manager has reused which had just
	// begun. It says when the manager began, which is another time than that of every
	// other manager. A deletion of the claim that the manager before it sent, and that
	// comes late, is refused for that. An annotation of podwright.
	CloneSetClaimReusedAnnotation = "clonesets.podwright.io/reused-by"
	// CloneSetInstanceIDLabel is on the pods of a CloneSet and on their claims. Its
	// five characters, the end of the pod's name, tie a claim to its pod.
	CloneSetInstanceIDLabel = "apps.kruise.io/cloneset-instance-id"

	// CloneSetScalingExcludePreparingDeleteLabel, when "true" on a CloneSet,
	// leaves pods in the state PreparingDelete out of the number of replicas.
	CloneSetScalingExcludePreparingDeleteLabel = "apps.kruise.io/cloneset-scaling-exclude-preparing-delete"

	// CloneSetClaimTemplateHashAnnotation on a ControllerRevision is a hash of the claim templates that the CloneSet had when
	// the revision was made, or became the newest again. It is empty if there were none.
	CloneSetClaimTemplateHashAnnotation = "kruise.io/cloneset-volumeclaimtemplate-hash"

	// DefaultCloneSetMaxUnavailable is the default of updateStrategy.maxUnavailable.
	DefaultCloneSetMaxUnavailable = "20%"
)

// CloneSetUpdateStrategyType says how the pods of a CloneSet are updated.
type CloneSetUpdateStrategyType string

const (
	// RecreateCloneSetUpdateStrategyType deletes a pod and creates a new one. The default.
	RecreateCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "ReCreate"
	// InPlaceIfPossibleCloneSetUpdateStrategyType updates a pod in place if
	// the change allows it, and recreates the pod otherwise.
	InPlaceIfPossibleCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "InPlaceIfPossible"
	// InPlaceOnlyCloneSetUpdateStrategyType updates pods in place and never recreates one.
	InPlaceOnlyCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "InPlaceOnly"
	// OnDeleteCloneSetUpdateStrategyType updates no pod: one that a user deletes is created again at
	// the update revision, as far as the partition allows. OpenKruise has it from 1.9 on.
	OnDeleteCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "OnDelete"
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

	// ProgressDeadlineSeconds is the time in seconds without progress after which the condition
	// Progressing says that an update is stuck. The update goes on nevertheless. It must be greater
	// than minReadySeconds. Default: no deadline, and no condition Progressing; 2147483647 means
	// the same. OpenKruise has it from 1.9 on.
	// +optional
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`
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
	// Type is ReCreate (default), InPlaceIfPossible, InPlaceOnly or OnDelete.
	// +optional
	Type CloneSetUpdateStrategyType `json:"type,omitempty"`

	// Partition is the number of pods that stay at the old revision: a number,
	// or a percentage of the replicas, rounded up. A percentage under 100% is
	// less than all replicas. Default 0.
	// +optional
	Partition *intstr.IntOrString `json:"partition,omitempty"`

	// MaxUnavailable is the number of pods that may be unavailable during an
	// update: a number, or a percentage of the replicas. That is rounded up if
	// maxSurge is 0 and down otherwise. Default 20%.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// MaxSurge is the number of pods that may exist beyond the replicas during
	// an update or while specified pods are replaced. It is a number, or a
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

	// UpdatedAvailableReplicas is the number of available pods at the update
	// revision. OpenKruise has it from 1.5 on.
	// +optional
	UpdatedAvailableReplicas int32 `json:"updatedAvailableReplicas"`

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

	// Conditions say what failed last, and whether the CloneSet is on its way to its spec.
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
	// CloneSetConditionProgressing is there with spec.progressDeadlineSeconds, and has the meaning that it has for a Deployment.
	// It is True while an update goes on or once it is complete. It is False when nothing has moved for that long, and Unknown
	// while the update is paused. OpenKruise has it from 1.9 on.
	CloneSetConditionProgressing CloneSetConditionType = "Progressing"
	// CloneSetConditionReconciling is there, and True, while the spec is not reached. A condition of podwright, by
	// the convention of kstatus: Flux and Helm wait while it is there.
	CloneSetConditionReconciling CloneSetConditionType = "Reconciling"
	// CloneSetConditionStalled is there, and True, when waiting does not help: the progress deadline is exceeded, or the
	// spec cannot be read. Reconciling is not there then. A condition of podwright, by the same convention.
	CloneSetConditionStalled CloneSetConditionType = "Stalled"
	// CloneSetConditionHeldUp is there, and True, while something has kept the CloneSet from its spec for a minute. The message
	// begins with the object that does. A condition of podwright.
	CloneSetConditionHeldUp CloneSetConditionType = "HeldUp"
)

// The reasons of the condition Progressing are those of a Deployment. They name the revision or the CloneSet
// if those name a ReplicaSet.
const (
	// CloneSetNewRevisionCreated: the template is new, and so is its revision (True).
	CloneSetNewRevisionCreated = "NewRevisionCreated"
	// CloneSetFoundNewRevision: the revision was there already, pods are to be updated to it (True).
	CloneSetFoundNewRevision = "FoundNewRevision"
	// CloneSetUpdated: the last change of the numbers of pods was progress (True).
	CloneSetUpdated = "CloneSetUpdated"
	// CloneSetAvailable: the update is complete, as far as the partition lets it (True).
	CloneSetAvailable = "CloneSetAvailable"
	// CloneSetProgressPartitionAvailable: as many pods are updated and available as the partition lets (True). It is there
	// if controllers have the reasons of OpenKruise 1.9.
	CloneSetProgressPartitionAvailable = "ProgressPartitionAvailable"
	// CloneSetProgressDeadlineExceeded: there was no progress for progressDeadlineSeconds (False).
	CloneSetProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// CloneSetPaused: updateStrategy.paused, the deadline stands still (Unknown; True with the reasons of OpenKruise 1.9).
	CloneSetPaused = "CloneSetPaused"
	// CloneSetResumed: it is not paused any more, the deadline starts anew (Unknown).
	CloneSetResumed = "CloneSetResumed"
)

// CloneSetCondition describes one aspect of a CloneSet.
type CloneSetCondition struct {
	// Type is what the condition is about.
	Type CloneSetConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// LastUpdateTime is, of the condition Progressing, when there was progress last. Other conditions do not have it.
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// CloneSet keeps a number of interchangeable pods running, and updates them in
// place if it can.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:shortName=clone
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".spec.replicas",description="The desired number of pods."
// +kubebuilder:printcolumn:name="UPDATED",type="integer",JSONPath=".status.updatedReplicas",description="The number of pods updated."
// +kubebuilder:printcolumn:name="UPDATED_READY",type="integer",JSONPath=".status.updatedReadyReplicas",description="The number of pods updated and ready."
// +kubebuilder:printcolumn:name="UPDATED_AVAILABLE",type="integer",JSONPath=".status.updatedAvailableReplicas",description="The number of pods updated and available."
// +kubebuilder:printcolumn:name="READY",type="integer",JSONPath=".status.readyReplicas",description="The number of pods ready."
// +kubebuilder:printcolumn:name="TOTAL",type="integer",JSONPath=".status.replicas",description="The number of all active pods."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="CONTAINERS",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].name",description="The containers of the template."
// +kubebuilder:printcolumn:name="IMAGES",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].image",description="The images of the template."
// +kubebuilder:printcolumn:name="SELECTOR",type="string",priority=1,JSONPath=".status.labelSelector",description="The selector of the pods."
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a CloneSet needs a spec with a selector and a template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.replicas",rule=`!has(self.spec) || !has(self.spec.replicas) || self.spec.replicas >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || has(self.spec.selector.matchLabels) && size(self.spec.selector.matchLabels) > 0 || has(self.spec.selector.matchExpressions) && size(self.spec.selector.matchExpressions) > 0`,reason=FieldValueRequired,message="must not be empty: give matchLabels or matchExpressions that match the labels of the template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.selector.matchExpressions) || self.spec.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.selector.matchLabels) ? self.spec.selector.matchLabels : {}) == (has(oldSelf.spec.selector.matchLabels) ? oldSelf.spec.selector.matchLabels : {}) && (has(self.spec.selector.matchExpressions) ? self.spec.selector.matchExpressions : []) == (has(oldSelf.spec.selector.matchExpressions) ? oldSelf.spec.selector.matchExpressions : [])`,message="cannot be changed: create another CloneSet for another selector"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.type",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.type) || size(self.spec.updateStrategy.type) == 0 || self.spec.updateStrategy.type in ['ReCreate', 'InPlaceIfPossible', 'InPlaceOnly', 'OnDelete']`,messageExpression=`'must be ReCreate, InPlaceIfPossible, InPlaceOnly or OnDelete, is ' + self.spec.updateStrategy.type`
// +kubebuilder:validation:XValidation:fieldPath=".spec.progressDeadlineSeconds",rule=`!has(self.spec) || !has(self.spec.progressDeadlineSeconds) || self.spec.progressDeadlineSeconds > 0 && self.spec.progressDeadlineSeconds > (has(self.spec.minReadySeconds) ? self.spec.minReadySeconds : 0)`,message="must be 1 or more, and greater than minReadySeconds"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.partition",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.partition) || (type(self.spec.updateStrategy.partition) == int ? self.spec.updateStrategy.partition >= 0 : self.spec.updateStrategy.partition.matches('^([0-9]+[.]?[0-9]*|[.][0-9]+)%$'))`,messageExpression=`'must be a number of pods, 0 or more, or a percentage such as 12.5%, is ' + string(self.spec.updateStrategy.partition)`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.maxUnavailable) || type(self.spec.updateStrategy.maxUnavailable) == int || self.spec.updateStrategy.maxUnavailable.matches('^[-+]?[0-9]+%?$')`,messageExpression=`'must be a number of pods or a whole percentage such as 20%, is ' + string(self.spec.updateStrategy.maxUnavailable)`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.maxSurge",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.maxSurge) || type(self.spec.updateStrategy.maxSurge) == int || self.spec.updateStrategy.maxSurge.matches('^[-+]?[0-9]+%?$')`,messageExpression=`'must be a number of pods or a whole percentage such as 20%, is ' + string(self.spec.updateStrategy.maxSurge)`
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.maxSurge",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.maxSurge) || !has(self.spec.updateStrategy.type) || self.spec.updateStrategy.type != 'InPlaceOnly' || (type(self.spec.updateStrategy.maxSurge) == int ? self.spec.updateStrategy.maxSurge <= 0 : has(self.spec.replicas) && self.spec.replicas == 0 || !self.spec.updateStrategy.maxSurge.matches('^[+]?0*[1-9]'))`,message="must be 0 with the type InPlaceOnly, which replaces no pods: remove it or use InPlaceIfPossible"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.maxUnavailable) || has(self.spec.replicas) && self.spec.replicas <= 0 || (type(self.spec.updateStrategy.maxUnavailable) == int ? self.spec.updateStrategy.maxUnavailable > 0 : self.spec.updateStrategy.maxUnavailable.matches('^[+]?0*[1-9]')) || has(self.spec.updateStrategy.maxSurge) && (type(self.spec.updateStrategy.maxSurge) == int ? self.spec.updateStrategy.maxSurge > 0 : self.spec.updateStrategy.maxSurge.matches('^[+]?0*[1-9]'))`,message="must not be 0 while maxSurge is 0, because no pod could ever be updated: raise one of them"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.priorityStrategy",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.priorityStrategy) || !has(self.spec.updateStrategy.priorityStrategy.weightPriority) || !has(self.spec.updateStrategy.priorityStrategy.orderPriority) || size(self.spec.updateStrategy.priorityStrategy.weightPriority) == 0 || size(self.spec.updateStrategy.priorityStrategy.orderPriority) == 0`,message="must hold weightPriority or orderPriority, not both"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.priorityStrategy.weightPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.priorityStrategy) || !has(self.spec.updateStrategy.priorityStrategy.weightPriority) || self.spec.updateStrategy.priorityStrategy.weightPriority.all(t, t.weight >= 0 && t.weight <= 100)`,message="every weight must be between 0 and 100"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.priorityStrategy.weightPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.priorityStrategy) || !has(self.spec.updateStrategy.priorityStrategy.weightPriority) || self.spec.updateStrategy.priorityStrategy.weightPriority.all(t, has(t.matchSelector.matchLabels) && size(t.matchSelector.matchLabels) > 0 || has(t.matchSelector.matchExpressions) && size(t.matchSelector.matchExpressions) > 0)`,message="every matchSelector must hold matchLabels or matchExpressions"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.priorityStrategy.orderPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.priorityStrategy) || !has(self.spec.updateStrategy.priorityStrategy.orderPriority) || self.spec.updateStrategy.priorityStrategy.orderPriority.all(t, size(t.orderedKey) > 0)`,message="every orderedKey must name a label"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.scatterStrategy",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.scatterStrategy) || self.spec.updateStrategy.scatterStrategy.all(t, size(t.key) > 0)`,message="every key must name a label"
type CloneSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec CloneSetSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status CloneSetStatus `json:"status,omitempty"`
}

// CloneSetList is a list of CloneSets.
//
// +kubebuilder:object:root=true
type CloneSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []CloneSet `json:"items"`
}
