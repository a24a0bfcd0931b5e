// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SidecarSetSpec is the desired state of a SidecarSet.
type SidecarSetSpec struct {
	// Selector selects the pods to inject into, by label. It must not be empty.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// Namespace is the only namespace of those pods. Default: all.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// NamespaceSelector selects the namespaces of those pods. Not together with
	// Namespace. Default: all.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// InitContainers are injected behind the pod's own init containers, those of all
	// SidecarSets sorted by name.
	// +optional
	InitContainers []SidecarContainer `json:"initContainers,omitempty"`

	// Containers are injected beside the pod's own containers.
	// +optional
	Containers []SidecarContainer `json:"containers,omitempty"`

	// Volumes are injected if an injected container mounts them, unless the pod has a
	// volume of that name.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// UpdateStrategy says how pods are updated that were injected before.
	// +optional
	UpdateStrategy SidecarSetUpdateStrategy `json:"updateStrategy,omitempty"`

	// InjectionStrategy says what is injected into new pods.
	// +optional
	InjectionStrategy SidecarSetInjectionStrategy `json:"injectionStrategy,omitempty"`

	// ImagePullSecrets are added to those of the pod. They must exist in its namespace.
	// +optional
	ImagePullSecrets []SidecarSetPullSecret `json:"imagePullSecrets,omitempty"`

	// RevisionHistoryLimit is the number of revisions to keep, at least 1. Default 10.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// PatchPodMetadata changes annotations of the pods.
	// +optional
	PatchPodMetadata []SidecarSetPatchPodMetadata `json:"patchPodMetadata,omitempty"`
}

// SidecarContainer is a container to inject. What stands besides the container has a
// meaning for regular containers; of init containers UpgradeStrategy has none.
//
// +kubebuilder:pruning:PreserveUnknownFields
type SidecarContainer struct {
	// Container is the container.
	// +kubebuilder:validation:Schemaless
	corev1.Container `json:",inline"`

	// PodInjectPolicy is BeforeAppContainer (default) or AfterAppContainer.
	// +optional
	PodInjectPolicy PodInjectPolicyType `json:"podInjectPolicy,omitempty"`

	// UpgradeStrategy says how the image is updated.
	// +optional
	UpgradeStrategy SidecarContainerUpgradeStrategy `json:"upgradeStrategy,omitempty"`

	// ShareVolumePolicy says whether the container gets the mounts of the pod's own ones.
	// +optional
	ShareVolumePolicy ShareVolumePolicy `json:"shareVolumePolicy,omitempty"`

	// ShareVolumeDevicePolicy says whether the container gets the block devices of the pod's own ones.
	// +optional
	ShareVolumeDevicePolicy *ShareVolumePolicy `json:"shareVolumeDevicePolicy,omitempty"`

	// TransferEnv copies environment variables of the pod's own containers.
	// +optional
	TransferEnv []TransferEnvVar `json:"transferEnv,omitempty"`

	// ResourcesPolicy computes the resources of the container from those of the pod's own
	// containers, when the pod is created. Not together with resources. An init container with it has
	// restartPolicy Always.
	// +optional
	ResourcesPolicy *ResourcesPolicy `json:"resourcesPolicy,omitempty"`
}

// PodInjectPolicyType says at which place a container is injected.
type PodInjectPolicyType string

const (
	// BeforeAppContainerType injects before the pod's own containers. The default.
	BeforeAppContainerType PodInjectPolicyType = "BeforeAppContainer"
	// AfterAppContainerType injects behind the pod's own containers.
	AfterAppContainerType PodInjectPolicyType = "AfterAppContainer"
)

// SidecarContainerUpgradeStrategy says how the image of a container is updated.
type SidecarContainerUpgradeStrategy struct {
	// UpgradeType is ColdUpgrade (default) or HotUpgrade. It cannot be changed.
	// +optional
	UpgradeType SidecarContainerUpgradeType `json:"upgradeType,omitempty"`

	// HotUpgradeEmptyImage is the image of the one of the two hot containers that does
	// not work.
	// +optional
	HotUpgradeEmptyImage string `json:"hotUpgradeEmptyImage,omitempty"`
}

// SidecarContainerUpgradeType is how the image of a container is updated.
type SidecarContainerUpgradeType string

const (
	// SidecarContainerColdUpgrade restarts the container. The default.
	SidecarContainerColdUpgrade SidecarContainerUpgradeType = "ColdUpgrade"
	// SidecarContainerHotUpgrade injects two containers, NAME-1 and NAME-2, of which one
	// works. The other gets the new image and works from then on, and the former one is
	// emptied.
	SidecarContainerHotUpgrade SidecarContainerUpgradeType = "HotUpgrade"
)

// TransferEnvVar copies environment variables of one of the pod's own containers.
type TransferEnvVar struct {
	// SourceContainerName is the container to copy from.
	// +optional
	SourceContainerName string `json:"sourceContainerName,omitempty"`

	// SourceContainerNameFrom says which field of the pod names the container; it goes before
	// SourceContainerName.
	// +optional
	SourceContainerNameFrom *SourceContainerNameSource `json:"sourceContainerNameFrom,omitempty"`

	// EnvName is a variable to copy.
	// +optional
	EnvName string `json:"envName,omitempty"`

	// EnvNames are more variables to copy.
	// +optional
	EnvNames []string `json:"envNames,omitempty"`
}

// SourceContainerNameSource says which field of a pod names a container.
type SourceContainerNameSource struct {
	// FieldRef is a field of the pod.
	// +optional
	FieldRef *PodFieldSelector `json:"fieldRef,omitempty"`
}

// PodFieldSelector names a field of a pod, as corev1.ObjectFieldSelector does.
type PodFieldSelector struct {
	// APIVersion is that of the pod. Default v1, the only one.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// FieldPath is metadata.labels['KEY'] or metadata.annotations['KEY'].
	FieldPath string `json:"fieldPath"`
}

// SidecarSetPullSecret names a Secret, as corev1.LocalObjectReference does.
type SidecarSetPullSecret struct {
	// Name is the name of the Secret, in the namespace of the pod.
	// +optional
	Name string `json:"name,omitempty"`
}

// SidecarSetPatchPodMetadata changes annotations of pods.
type SidecarSetPatchPodMetadata struct {
	// Annotations are the annotations.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// PatchPolicy is Retain (default), Overwrite or MergePatchJson.
	// +optional
	PatchPolicy SidecarSetPatchPolicyType `json:"patchPolicy,omitempty"`
}

// SidecarSetPatchPolicyType is what becomes of an annotation that the pod has.
type SidecarSetPatchPolicyType string

const (
	// SidecarSetRetainPatchPolicy leaves it unchanged. The default.
	SidecarSetRetainPatchPolicy SidecarSetPatchPolicyType = "Retain"
	// SidecarSetOverwritePatchPolicy replaces it.
	SidecarSetOverwritePatchPolicy SidecarSetPatchPolicyType = "Overwrite"
	// SidecarSetMergePatchJSONPatchPolicy merges both as JSON objects.
	SidecarSetMergePatchJSONPatchPolicy SidecarSetPatchPolicyType = "MergePatchJson"
)

// SidecarSetStatus is the observed state of a SidecarSet.
type SidecarSetStatus struct {
	// ObservedGeneration is the generation that the rest of the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// MatchedPods is the number of pods that the SidecarSet injected, and still matches.
	MatchedPods int32 `json:"matchedPods"`
	// UpdatedPods is how many of the matched pods have its present containers.
	UpdatedPods int32 `json:"updatedPods"`
	// ReadyPods is how many of the matched pods are ready and run the images of their spec.
	ReadyPods int32 `json:"readyPods"`
	// UpdatedReadyPods is how many of the ready pods are updated.
	// +optional
	UpdatedReadyPods int32 `json:"updatedReadyPods,omitempty"`
	// LatestRevision is the name of the revision of the spec.
	// +optional
	LatestRevision string `json:"latestRevision,omitempty"`
	// CollisionCount counts the revisions whose name another one had.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`
	// Conditions say what is wrong. OpenKruise has none.
	// +optional
	Conditions []SidecarSetCondition `json:"conditions,omitempty"`
	// Selection says since when the SidecarSet selects the pods that it does. OpenKruise
	// has none.
	// +optional
	Selection *SidecarSetSelection `json:"selection,omitempty"`
}

// SidecarSetSelection says since when a SidecarSet injects into the pods that it selects
// now: pods that were created before cannot have been missed.
type SidecarSetSelection struct {
	// Hash is that of the fields of the spec that say into which new pods it injects.
	Hash string `json:"hash"`
	// Since is when these fields were first seen by a controller; or when the SidecarSet
	// was created, if its spec has never changed.
	Since metav1.Time `json:"since"`
}

// SidecarSetConditionType is the type of a SidecarSetCondition.
type SidecarSetConditionType string

const (
	// SidecarSetInjected is False if pods were created that the SidecarSet selects,
	// and nothing was injected. It is absent if there are none.
	SidecarSetInjected SidecarSetConditionType = "Injected"
	// SidecarSetNotUpgradable says that pods cannot be updated in place: something beside
	// the images has changed.
	SidecarSetNotUpgradable SidecarSetConditionType = "NotUpgradable"
	// SidecarSetFailedUpdatePod says that pods could not be updated.
	SidecarSetFailedUpdatePod SidecarSetConditionType = "FailedUpdatePod"
	// SidecarSetHeldUp is there, and True, while something has kept the SidecarSet from its spec for a minute. The message begins
	// with the pod that does.
	SidecarSetHeldUp SidecarSetConditionType = "HeldUp"
	// SidecarSetFailedPolicy says why no policy of the API server injects what the SidecarSet
	// has: it needs the webhook. It is absent if policies are not used.
	SidecarSetFailedPolicy SidecarSetConditionType = "FailedPolicy"
)

// SidecarSetCondition describes one aspect of a SidecarSet.
type SidecarSetCondition struct {
	// Type is what the condition is about.
	Type SidecarSetConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// SidecarSet injects containers into pods as they are created, and updates their images
// in place later.
//
// +genclient
// +genclient:nonNamespaced
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="MATCHED",type="integer",JSONPath=".status.matchedPods",description="The number of pods that it injected and still matches."
// +kubebuilder:printcolumn:name="UPDATED",type="integer",JSONPath=".status.updatedPods",description="How many of the matched pods have its present containers."
// +kubebuilder:printcolumn:name="READY",type="integer",JSONPath=".status.readyPods",description="How many of the matched pods are ready."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule=`size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-zA-Z0-9-]+$')`,message="metadata.name must be at most 63 letters, digits and dashes: it is the value of a label"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec) && has(self.spec.selector)`,reason=FieldValueRequired,message="a SidecarSet needs a spec with a selector and with containers or initContainers"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || !has(self.spec.selector) || (has(self.spec.selector.matchLabels) && size(self.spec.selector.matchLabels) > 0 || has(self.spec.selector.matchExpressions) && size(self.spec.selector.matchExpressions) > 0)`,message="must not be empty: it would select everything"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.selector) || !has(self.spec.selector.matchExpressions) || self.spec.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.namespaceSelector",rule=`!has(self.spec) || !has(self.spec.namespaceSelector) || !has(self.spec.__namespace__) || size(self.spec.__namespace__) == 0`,reason=FieldValueForbidden,message="namespace and namespaceSelector exclude each other; remove one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.namespaceSelector",rule=`!has(self.spec) || !has(self.spec.namespaceSelector) || (has(self.spec.namespaceSelector.matchLabels) && size(self.spec.namespaceSelector.matchLabels) > 0 || has(self.spec.namespaceSelector.matchExpressions) && size(self.spec.namespaceSelector.matchExpressions) > 0)`,message="must not be empty: it would select everything"
// +kubebuilder:validation:XValidation:fieldPath=".spec.namespaceSelector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.namespaceSelector) || !has(self.spec.namespaceSelector.matchExpressions) || self.spec.namespaceSelector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.containers",rule=`!has(self.spec) || has(self.spec.containers) && size(self.spec.containers) > 0 || has(self.spec.initContainers) && size(self.spec.initContainers) > 0`,reason=FieldValueRequired,message="there is nothing to inject: give containers or initContainers"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.type",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.type) || size(self.spec.updateStrategy.type) == 0 || self.spec.updateStrategy.type in ['RollingUpdate', 'NotUpdate']`,message="must be RollingUpdate or NotUpdate"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.selector",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'NotUpdate' || !has(self.spec.updateStrategy.selector) || (has(self.spec.updateStrategy.selector.matchLabels) && size(self.spec.updateStrategy.selector.matchLabels) > 0 || has(self.spec.updateStrategy.selector.matchExpressions) && size(self.spec.updateStrategy.selector.matchExpressions) > 0)`,message="must not be empty: it would select everything"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.partition",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'NotUpdate' || !has(self.spec.updateStrategy.partition) || (type(self.spec.updateStrategy.partition) == int ? self.spec.updateStrategy.partition >= 0 : self.spec.updateStrategy.partition.matches('^[0-9]+%$'))`,message="must be a number such as 3 or a percentage such as 30%"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.maxUnavailable",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'NotUpdate' || !has(self.spec.updateStrategy.maxUnavailable) || (type(self.spec.updateStrategy.maxUnavailable) == int ? self.spec.updateStrategy.maxUnavailable >= 0 : self.spec.updateStrategy.maxUnavailable.matches('^[0-9]+%$'))`,message="must be a number such as 3 or a percentage such as 30%"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.priorityStrategy",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'NotUpdate' || !has(self.spec.updateStrategy.priorityStrategy) || !has(self.spec.updateStrategy.priorityStrategy.weightPriority) || !has(self.spec.updateStrategy.priorityStrategy.orderPriority) || size(self.spec.updateStrategy.priorityStrategy.weightPriority) == 0 || size(self.spec.updateStrategy.priorityStrategy.orderPriority) == 0`,message="must hold weightPriority or orderPriority, not both"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.priorityStrategy.weightPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'NotUpdate' || !has(self.spec.updateStrategy.priorityStrategy) || !has(self.spec.updateStrategy.priorityStrategy.weightPriority) || self.spec.updateStrategy.priorityStrategy.weightPriority.all(t, t.weight >= 0 && t.weight <= 100)`,message="every weight must be between 0 and 100"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.priorityStrategy.weightPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'NotUpdate' || !has(self.spec.updateStrategy.priorityStrategy) || !has(self.spec.updateStrategy.priorityStrategy.weightPriority) || self.spec.updateStrategy.priorityStrategy.weightPriority.all(t, has(t.matchSelector.matchLabels) && size(t.matchSelector.matchLabels) > 0 || has(t.matchSelector.matchExpressions) && size(t.matchSelector.matchExpressions) > 0)`,message="every matchSelector must hold matchLabels or matchExpressions"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.priorityStrategy.orderPriority",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'NotUpdate' || !has(self.spec.updateStrategy.priorityStrategy) || !has(self.spec.updateStrategy.priorityStrategy.orderPriority) || self.spec.updateStrategy.priorityStrategy.orderPriority.all(t, size(t.orderedKey) > 0)`,message="every orderedKey must name a label"
// +kubebuilder:validation:XValidation:fieldPath=".spec.updateStrategy.scatterStrategy",rule=`!has(self.spec) || !has(self.spec.updateStrategy) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'NotUpdate' || !has(self.spec.updateStrategy.scatterStrategy) || self.spec.updateStrategy.scatterStrategy.all(t, size(t.key) > 0)`,message="every term needs the key of a label"
// +kubebuilder:validation:XValidation:fieldPath=".spec.injectionStrategy.revision",rule=`!has(self.spec) || !has(self.spec.injectionStrategy) || !has(self.spec.injectionStrategy.revision) || has(self.spec.injectionStrategy.revision.revisionName) || has(self.spec.injectionStrategy.revision.customVersion)`,reason=FieldValueRequired,message="give revisionName or customVersion"
// +kubebuilder:validation:XValidation:fieldPath=".spec.injectionStrategy.revision.policy",rule=`!has(self.spec) || !has(self.spec.injectionStrategy) || !has(self.spec.injectionStrategy.revision) || !has(self.spec.injectionStrategy.revision.policy) || size(self.spec.injectionStrategy.revision.policy) == 0 || self.spec.injectionStrategy.revision.policy in ['Always', 'Partial']`,message="must be Always or Partial"
type SidecarSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec SidecarSetSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status SidecarSetStatus `json:"status,omitempty"`
}

// SidecarSetList is a list of SidecarSets.
//
// +kubebuilder:object:root=true
type SidecarSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list, in no order.
	Items []SidecarSet `json:"items"`
}
