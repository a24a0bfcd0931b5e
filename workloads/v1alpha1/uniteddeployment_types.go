// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/workloads/v1beta1"
)

const (
	// SubsetNameLabel is on the workload of a subset, in its selector and on its pods: the
	// name of the subset.
	SubsetNameLabel = "apps.kruise.io/subset-name"
	// SubsetRevisionLabel is on the pods of a UnitedDeployment, and on the workloads of its
	// subsets but Advanced StatefulSets. It holds the name of the revision of the
	// UnitedDeployment.
	SubsetRevisionLabel = "apps.kruise.io/controller-revision-hash"
	// ReservedPodLabel is on pods that another subset has substitutes for, with the value
	// "true", until they are ready. It is of releases of OpenKruise after 1.4.
	ReservedPodLabel = "apps.kruise.io/united-deployment-reserved-pod"
)

// UnitedDeploymentSpec is the desired state of a UnitedDeployment.
type UnitedDeploymentSpec struct {
	// Replicas is the desired number of pods of all subsets together. Default 1, or the sum of the numbers of subsets.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Selector selects the workloads of the subsets and the pods by label. It must match
	// the labels of the template and cannot be changed.
	Selector *metav1.LabelSelector `json:"selector"`

	// Template is what the workloads of the subsets are made of.
	// +optional
	Template SubsetTemplate `json:"template,omitempty"`

	// Topology lists the subsets.
	// +optional
	Topology Topology `json:"topology,omitempty"`

	// UpdateStrategy tunes how pods move to a new revision.
	// +optional
	UpdateStrategy UnitedDeploymentUpdateStrategy `json:"updateStrategy,omitempty"`

	// RevisionHistoryLimit is the number of unused revisions to keep, here and in the
	// workloads of the subsets. Default 10.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

// SubsetTemplate is what the workloads of the subsets are made of: exactly one of its
// fields is set. What the UnitedDeployment decides itself (replicas, selector, partition)
// is not taken from it.
type SubsetTemplate struct {
	// StatefulSetTemplate is for StatefulSets of apps/v1.
	// +optional
	StatefulSetTemplate *StatefulSetTemplateSpec `json:"statefulSetTemplate,omitempty"`

	// AdvancedStatefulSetTemplate is for StatefulSets of apps.kruise.io/v1beta1.
	// +optional
	AdvancedStatefulSetTemplate *AdvancedStatefulSetTemplateSpec `json:"advancedStatefulSetTemplate,omitempty"`

	// CloneSetTemplate is for CloneSets.
	// +optional
	CloneSetTemplate *CloneSetTemplateSpec `json:"cloneSetTemplate,omitempty"`

	// DeploymentTemplate is for Deployments of apps/v1.
	// +optional
	DeploymentTemplate *DeploymentTemplateSpec `json:"deploymentTemplate,omitempty"`
}

// StatefulSetTemplateSpec is what a StatefulSet of apps/v1 is made of.
type StatefulSetTemplateSpec struct {
	// Metadata holds labels and annotations of the StatefulSet.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is that of the StatefulSet.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Spec appsv1.StatefulSetSpec `json:"spec"`
}

// AdvancedStatefulSetTemplateSpec is what a StatefulSet of apps.kruise.io/v1beta1 is made of.
type AdvancedStatefulSetTemplateSpec struct {
	// Metadata holds labels and annotations of the StatefulSet.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is that of the StatefulSet.
	Spec v1beta1.StatefulSetSpec `json:"spec"`
}

// CloneSetTemplateSpec is what a CloneSet is made of.
type CloneSetTemplateSpec struct {
	// Metadata holds labels and annotations of the CloneSet.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is that of the CloneSet.
	Spec CloneSetSpec `json:"spec"`
}

// DeploymentTemplateSpec is what a Deployment of apps/v1 is made of.
type DeploymentTemplateSpec struct {
	// Metadata holds labels and annotations of the Deployment.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is that of the Deployment.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Spec appsv1.DeploymentSpec `json:"spec"`
}

// Topology lists the subsets of a UnitedDeployment.
type Topology struct {
	// Subsets are the groups of nodes, each of which gets a workload of its own. Default:
	// none, so that there are no workloads.
	// +optional
	Subsets []Subset `json:"subsets,omitempty"`

	// ScheduleStrategy says what becomes of pods that cannot be scheduled in their subset. It
	// is of releases of OpenKruise after 1.4, and has no effect unless the controller is told
	// to read it.
	// +optional
	ScheduleStrategy UnitedDeploymentScheduleStrategy `json:"scheduleStrategy,omitempty"`
}

// Subset is a group of nodes, and what the workload there differs in.
type Subset struct {
	// Name is a DNS label, and that of no other subset.
	Name string `json:"name"`

	// NodeSelectorTerm restricts the pods to nodes: its matchExpressions are added to each
	// term of the node affinity of the template. It cannot be changed.
	// +optional
	NodeSelectorTerm corev1.NodeSelectorTerm `json:"nodeSelectorTerm,omitempty"`

	// Tolerations are added to those of the template. They cannot be changed.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Replicas is the number of pods, or the percentage of all pods, from 0% to 100%.
	// Default: an equal share of what the other subsets leave.
	// +optional
	Replicas *intstr.IntOrString `json:"replicas,omitempty"`

	// MinReplicas is the number of pods, or the percentage of all pods, that the subset gets
	// before others get more than their MinReplicas. Default 0. It is of releases of OpenKruise
	// after 1.4, and has no effect unless the controller is told to read it.
	// +optional
	MinReplicas *intstr.IntOrString `json:"minReplicas,omitempty"`

	// MaxReplicas is the number of pods, or the percentage of all pods, that the subset gets
	// at most. Default: no limit. It has effect if MinReplicas has.
	// +optional
	MaxReplicas *intstr.IntOrString `json:"maxReplicas,omitempty"`

	// Patch is a strategic merge patch of the pod template of this subset. It can change
	// neither labels that the selector names nor those of the UnitedDeployment itself.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	Patch *runtime.RawExtension `json:"patch,omitempty"`
}

// UnitedDeploymentUpdateStrategyType says how a UnitedDeployment is updated.
type UnitedDeploymentUpdateStrategyType string

// ManualUpdateStrategyType updates each subset as far as its partition lets it. The default,
// and the only one.
const ManualUpdateStrategyType UnitedDeploymentUpdateStrategyType = "Manual"

// UnitedDeploymentUpdateStrategy tunes how the pods of a UnitedDeployment are updated.
type UnitedDeploymentUpdateStrategy struct {
	// Type is Manual (default).
	// +optional
	Type UnitedDeploymentUpdateStrategyType `json:"type,omitempty"`

	// ManualUpdate tunes the type Manual.
	// +optional
	ManualUpdate *ManualUpdate `json:"manualUpdate,omitempty"`
}

// ManualUpdate holds back the update of subsets.
type ManualUpdate struct {
	// Partitions is the number of pods that are held back at the old revision, by the name of
	// the subset. Default 0. It has no effect on Deployments.
	// +optional
	Partitions map[string]int32 `json:"partitions,omitempty"`
}

// UnitedDeploymentStatus is the observed state of a UnitedDeployment.
type UnitedDeploymentStatus struct {
	// ObservedGeneration is the generation that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ReadyReplicas is the number of ready pods, as the workloads of the subsets say.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// Replicas is the number of pods, as the workloads of the subsets say.
	Replicas int32 `json:"replicas"`

	// UpdatedReplicas is the number of pods at the present revision that are not being deleted.
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// UpdatedReadyReplicas is the number of those that are ready.
	// +optional
	UpdatedReadyReplicas int32 `json:"updatedReadyReplicas,omitempty"`

	// CollisionCount counts hash collisions of revisions.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`

	// CurrentRevision is the name of the revision that pods are updated from.
	CurrentRevision string `json:"currentRevision"`

	// SubsetReplicas is the number of pods that each subset is to have.
	// +optional
	SubsetReplicas map[string]int32 `json:"subsetReplicas,omitempty"`

	// Conditions say whether the workloads of the subsets are as they should be.
	// +optional
	Conditions []UnitedDeploymentCondition `json:"conditions,omitempty"`

	// UpdateStatus says how the update goes.
	// +optional
	UpdateStatus *UpdateStatus `json:"updateStatus,omitempty"`

	// Selector is the selector of the pods in the form that the scale subresource wants.
	// +optional
	Selector string `json:"selector,omitempty"`

	// LabelSelector is the same, under the name that later releases of OpenKruise give it.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`

	// SubsetStatuses are the subsets, in the order of the spec. They stand there if the
	// schedule strategy is Adaptive and the controller is told to read it. A controller with
	// the statuses of OpenKruise 1.9 writes them with every strategy.
	// +optional
	SubsetStatuses []UnitedDeploymentSubsetStatus `json:"subsetStatuses,omitempty"`

	// ReservedPods is the number of pods that other subsets have substitutes for: the subsets
	// together have so many pods more than spec.replicas.
	// +optional
	ReservedPods int32 `json:"reservedPods,omitempty"`
}

// UpdateStatus says how an update goes.
type UpdateStatus struct {
	// UpdatedRevision is the name of the revision of the present template.
	// +optional
	UpdatedRevision string `json:"updatedRevision,omitempty"`

	// CurrentPartitions is the number of pods that are held back in each subset: what was
	// asked for, at most the number of its pods.
	// +optional
	CurrentPartitions map[string]int32 `json:"currentPartitions,omitempty"`
}

// UnitedDeploymentConditionType is the type of a UnitedDeploymentCondition.
type UnitedDeploymentConditionType string

const (
	// SubsetProvisioned says whether each subset has its workload, and no other is left.
	SubsetProvisioned UnitedDeploymentConditionType = "SubsetProvisioned"
	// SubsetUpdated says whether the workloads are as the template and the topology want.
	SubsetUpdated UnitedDeploymentConditionType = "SubsetUpdated"
	// SubsetFailure says what keeps a subset from having a workload at all.
	SubsetFailure UnitedDeploymentConditionType = "SubsetFailure"
	// UnitedDeploymentUpdated says whether all pods are at the present revision, or are being updated to it. It is there if
	// controllers have the conditions of OpenKruise 1.9.
	UnitedDeploymentUpdated UnitedDeploymentConditionType = "UnitedDeploymentUpdated"
	// UnitedDeploymentHeldUp is there, and True, while something has kept a subset from its spec for a minute. The message begins
	// with the subset. A condition of podwright.
	UnitedDeploymentHeldUp UnitedDeploymentConditionType = "HeldUp"
)

// UnitedDeploymentCondition describes one aspect of a UnitedDeployment.
type UnitedDeploymentCondition struct {
	// +optional
	Type UnitedDeploymentConditionType `json:"type,omitempty"`
	// +optional
	Status corev1.ConditionStatus `json:"status,omitempty"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// UnitedDeployment runs one workload in each of several groups of nodes.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=ud
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".spec.replicas",description="The desired number of pods."
// +kubebuilder:printcolumn:name="CURRENT",type="integer",JSONPath=".status.replicas",description="The number of all pods."
// +kubebuilder:printcolumn:name="UPDATED",type="integer",JSONPath=".status.updatedReplicas",description="The number of pods updated."
// +kubebuilder:printcolumn:name="READY",type="integer",JSONPath=".status.readyReplicas",description="The number of pods ready."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a UnitedDeployment needs a spec with a selector and a template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.replicas",rule=`!has(self.spec) || !has(self.spec.replicas) || self.spec.replicas >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || has(self.spec.selector.matchLabels) && size(self.spec.selector.matchLabels) > 0 || has(self.spec.selector.matchExpressions) && size(self.spec.selector.matchExpressions) > 0`,reason=FieldValueRequired,message="must not be empty: give matchLabels or matchExpressions that match the labels of the template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.selector.matchExpressions) || self.spec.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.selector.matchLabels) ? self.spec.selector.matchLabels : {}) == (has(oldSelf.spec.selector.matchLabels) ? oldSelf.spec.selector.matchLabels : {}) && (has(self.spec.selector.matchExpressions) ? self.spec.selector.matchExpressions : []) == (has(oldSelf.spec.selector.matchExpressions) ? oldSelf.spec.selector.matchExpressions : [])`,message="cannot be changed: create another UnitedDeployment for another selector"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template",rule=`!has(self.spec) || has(self.spec.template) && [has(self.spec.template.statefulSetTemplate), has(self.spec.template.advancedStatefulSetTemplate), has(self.spec.template.cloneSetTemplate), has(self.spec.template.deploymentTemplate)].filter(given, given).size() == 1`,message="must hold exactly one of statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate and deploymentTemplate"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.advancedStatefulSetTemplate.spec.replicas",rule=`!has(self.spec) || !has(self.spec.template) || !has(self.spec.template.advancedStatefulSetTemplate) || !has(self.spec.template.advancedStatefulSetTemplate.spec.replicas)`,message="must be absent: spec.replicas and the subsets say it"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.advancedStatefulSetTemplate.spec.updateStrategy.rollingUpdate.partition",rule=`!has(self.spec) || !has(self.spec.template) || !has(self.spec.template.advancedStatefulSetTemplate) || !has(self.spec.template.advancedStatefulSetTemplate.spec.updateStrategy) || !has(self.spec.template.advancedStatefulSetTemplate.spec.updateStrategy.type) || self.spec.template.advancedStatefulSetTemplate.spec.updateStrategy.type != 'RollingUpdate' || !has(self.spec.template.advancedStatefulSetTemplate.spec.updateStrategy.rollingUpdate) || !has(self.spec.template.advancedStatefulSetTemplate.spec.updateStrategy.rollingUpdate.partition)`,message="must be absent: spec.updateStrategy.manualUpdate.partitions says it"
// +kubebuilder:validation:XValidation:fieldPath=".spec.topology.subsets",rule=`!has(self.spec) || !has(self.spec.topology) || !has(self.spec.topology.subsets) || self.spec.topology.subsets.all(s, size(s.name) > 0 && size(s.name) <= 63)`,message="every name must be a DNS label: lower case letters, digits and dashes, 63 at most"
// +kubebuilder:validation:XValidation:fieldPath=".spec.topology.subsets",rule=`!has(self.spec) || !has(self.spec.topology) || !has(self.spec.topology.subsets) || self.spec.topology.subsets.all(s, !has(s.replicas) || (type(s.replicas) == int ? s.replicas >= 0 : size(s.replicas) > 1))`,message="the replicas of every subset must be 0 or more, or a whole percentage from 0% to 100%"
// +kubebuilder:validation:XValidation:fieldPath=".spec.topology.subsets",rule=`!has(self.spec) || !has(self.spec.topology) || !has(self.spec.topology.subsets) || self.spec.topology.subsets.all(s, !has(s.minReplicas) || (type(s.minReplicas) == int ? s.minReplicas >= 0 : size(s.minReplicas) > 1))`,message="minReplicas of every subset must be 0 or more, or a whole percentage from 0% to 100%"
// +kubebuilder:validation:XValidation:fieldPath=".spec.topology.subsets",rule=`!has(self.spec) || !has(self.spec.topology) || !has(self.spec.topology.subsets) || self.spec.topology.subsets.all(s, !has(s.maxReplicas) || (type(s.maxReplicas) == int ? s.maxReplicas >= 0 : size(s.maxReplicas) > 1))`,message="maxReplicas of every subset must be 0 or more, or a whole percentage from 0% to 100%"
// +kubebuilder:validation:XValidation:fieldPath=".spec.topology.subsets",rule=`!has(self.spec) || !has(self.spec.topology) || !has(self.spec.topology.subsets) || self.spec.topology.subsets.all(s, !has(s.replicas) || !has(s.minReplicas) && !has(s.maxReplicas))`,message="a subset must not have both replicas and minReplicas or maxReplicas"
// +kubebuilder:validation:XValidation:fieldPath=".spec.topology.scheduleStrategy.type",rule=`!has(self.spec) || !has(self.spec.topology) || !has(self.spec.topology.scheduleStrategy) || !has(self.spec.topology.scheduleStrategy.type) || size(self.spec.topology.scheduleStrategy.type) == 0 || self.spec.topology.scheduleStrategy.type in ['Fixed', 'Adaptive']`,reason=FieldValueInvalid,message="must be Fixed or Adaptive"
// +kubebuilder:validation:XValidation:fieldPath=".spec.topology.scheduleStrategy.adaptive",rule=`!has(self.spec) || !has(self.spec.topology) || !has(self.spec.topology.scheduleStrategy) || !has(self.spec.topology.scheduleStrategy.adaptive) || (!has(self.spec.topology.scheduleStrategy.adaptive.rescheduleCriticalSeconds) || self.spec.topology.scheduleStrategy.adaptive.rescheduleCriticalSeconds >= 0) && (!has(self.spec.topology.scheduleStrategy.adaptive.unschedulableDuration) || self.spec.topology.scheduleStrategy.adaptive.unschedulableDuration >= 0) && (!has(self.spec.topology.scheduleStrategy.adaptive.unschedulableLastSeconds) || self.spec.topology.scheduleStrategy.adaptive.unschedulableLastSeconds >= 0)`,message="rescheduleCriticalSeconds, unschedulableDuration and unschedulableLastSeconds must be 0 or more"
type UnitedDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec UnitedDeploymentSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status UnitedDeploymentStatus `json:"status,omitempty"`
}

// UnitedDeploymentList is a list of UnitedDeployments.
//
// +kubebuilder:object:root=true
type UnitedDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []UnitedDeployment `json:"items"`
}
