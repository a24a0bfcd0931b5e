// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ImagePullJobSpec says which image to pull to which nodes.
type ImagePullJobSpec struct {
	// Image is the image to pull. Without a tag it means the tag latest.
	Image string `json:"image"`

	// PullSecrets names the secrets of the job's namespace with the
	// credentials of the registry. Default: none, the image is public.
	// +optional
	PullSecrets []string `json:"pullSecrets,omitempty"`

	// Selector selects nodes. It excludes podSelector. Default, if
	// podSelector is missing too: all nodes.
	// +optional
	Selector *ImagePullJobNodeSelector `json:"selector,omitempty"`

	// PodSelector selects pods of the job's namespace by label; the image is
	// pulled to the nodes that they are scheduled to. It excludes selector.
	// +optional
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`

	// Parallelism is how many nodes pull at the same time: a number, or a
	// percentage of the nodes, rounded up. Default 1; 0 pauses the job.
	// +optional
	Parallelism *intstr.IntOrString `json:"parallelism,omitempty"`

	// PullPolicy bounds the attempts of one node.
	// +optional
	PullPolicy *PullPolicy `json:"pullPolicy,omitempty"`

	// CompletionPolicy says when the job is over.
	CompletionPolicy CompletionPolicy `json:"completionPolicy"`

	// SandboxConfig is handed to the container runtime with every pull.
	// +optional
	SandboxConfig *SandboxConfig `json:"sandboxConfig,omitempty"`

	// ImagePullPolicy is Always, if a node is to ask the registry also for an image that it has, or IfNotPresent (default).
	// +optional
	ImagePullPolicy ImagePullPolicy `json:"imagePullPolicy,omitempty"`
}

// ImagePullPolicy says whether a node pulls an image that it has.
type ImagePullPolicy string

const (
	// ImagePullAlways has a node ask the registry whether the image is another by now, such as one with the tag latest.
	ImagePullAlways ImagePullPolicy = "Always"
	// ImagePullIfNotPresent pulls nothing to a node that has an image of the name. The default.
	ImagePullIfNotPresent ImagePullPolicy = "IfNotPresent"
)

// ImagePullJobNodeSelector selects nodes by name or by label, not by both.
type ImagePullJobNodeSelector struct {
	// Names are the names of nodes. Those that do not exist are passed over.
	// +optional
	Names []string `json:"names,omitempty"`

	// MatchLabels are labels that the nodes must have.
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// MatchExpressions are requirements that the labels of the nodes must meet.
	// +optional
	MatchExpressions []ImagePullJobNodeSelectorRequirement `json:"matchExpressions,omitempty"`
}

// ImagePullJobNodeSelectorRequirement is a metav1.LabelSelectorRequirement, to
// which it can be converted. It is a type of its own because the schema of
// metav1's says how lists are merged, and that of existing clusters does not.
type ImagePullJobNodeSelectorRequirement struct {
	// Key is the key of the label.
	Key string `json:"key"`

	// Operator is In, NotIn, Exists or DoesNotExist.
	Operator metav1.LabelSelectorOperator `json:"operator"`

	// Values are the values for In and NotIn; Exists and DoesNotExist have none.
	// +optional
	Values []string `json:"values,omitempty"`
}

// PullPolicy bounds the attempts of one node to pull an image.
type PullPolicy struct {
	// TimeoutSeconds is the time in seconds that one attempt may take. Default 600.
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// BackoffLimit is how often a failed attempt is repeated. Default 3.
	// +optional
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
}

// CompletionPolicyType says whether an ImagePullJob ends.
type CompletionPolicyType string

const (
	// Always ends the job when every node has succeeded or failed. The default.
	Always CompletionPolicyType = "Always"
	// Never keeps the job going, so that nodes that join later pull the image too.
	Never CompletionPolicyType = "Never"
)

// CompletionPolicy says when an ImagePullJob is over.
type CompletionPolicy struct {
	// Type is Always (default) or Never.
	// +optional
	Type CompletionPolicyType `json:"type,omitempty"`

	// ActiveDeadlineSeconds is the time in seconds after which the job ends.
	// Nodes that have not succeeded by then have failed. Not with
	// the type Never. Default: no limit.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds after which a finished
	// job is deleted. Not with the type Never. Default: it is kept.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// SandboxConfig is metadata of the pod sandbox that an image is pulled for.
// Some container runtimes choose by it how they pull.
type SandboxConfig struct {
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ImagePullJobStatus is the observed state of an ImagePullJob.
type ImagePullJobStatus struct {
	// ObservedGeneration is the metadata.generation of the job that this status
	// is about; 0 until its controller has seen it. OpenKruise does not have it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// StartTime is when the job was first seen by its controller.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the job ended; nil while it goes on.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Desired is the number of nodes that the image is for.
	Desired int32 `json:"desired"`

	// Active is the number of nodes that pull.
	// +optional
	Active int32 `json:"active,omitempty"`

	// Succeeded is the number of nodes that have the image.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`

	// Failed is the number of nodes that have given up.
	// +optional
	Failed int32 `json:"failed,omitempty"`

	// Message says in words how far the job is.
	// +optional
	Message string `json:"message,omitempty"`

	// FailedNodes names the nodes that have given up, sorted, 5,000 at most.
	// +optional
	FailedNodes []string `json:"failedNodes,omitempty"`
}

// ImagePullJob pulls an image to nodes before a pod needs it there.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="TOTAL",type="integer",JSONPath=".status.desired",description="The number of nodes to pull to."
// +kubebuilder:printcolumn:name="ACTIVE",type="integer",JSONPath=".status.active",description="The number of nodes that pull."
// +kubebuilder:printcolumn:name="SUCCEED",type="integer",JSONPath=".status.succeeded",description="The number of nodes that have the image."
// +kubebuilder:printcolumn:name="FAILED",type="integer",JSONPath=".status.failed",description="The number of nodes that have given up."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.message",description="How far the job is."
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="an ImagePullJob needs a spec with image and completionPolicy"
// +kubebuilder:validation:XValidation:fieldPath=".spec.image",rule=`!has(self.spec) || size(self.spec.image) > 0`,reason=FieldValueRequired,message="must name an image"
// +kubebuilder:validation:XValidation:fieldPath=".spec.podSelector",rule=`!has(self.spec) || !has(self.spec.selector) || !has(self.spec.podSelector)`,reason=FieldValueForbidden,message="must be absent if selector is given: keep one of the two"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.names",rule=`!has(self.spec) || !has(self.spec.selector) || !has(self.spec.selector.names) || size(self.spec.selector.names) == 0 || (!has(self.spec.selector.matchLabels) || size(self.spec.selector.matchLabels) == 0) && (!has(self.spec.selector.matchExpressions) || size(self.spec.selector.matchExpressions) == 0)`,reason=FieldValueForbidden,message="must be absent if matchLabels or matchExpressions are given: select nodes by name or by label"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.selector) || !has(self.spec.selector.matchExpressions) || self.spec.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.podSelector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.podSelector) || !has(self.spec.podSelector.matchExpressions) || self.spec.podSelector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.completionPolicy.type",rule=`!has(self.spec) || !has(self.spec.completionPolicy.type) || size(self.spec.completionPolicy.type) == 0 || self.spec.completionPolicy.type in ['Always', 'Never']`,messageExpression=`'must be Always or Never, is ' + self.spec.completionPolicy.type`
// +kubebuilder:validation:XValidation:fieldPath=".spec.completionPolicy.activeDeadlineSeconds",rule=`!has(self.spec) || !has(self.spec.completionPolicy.type) || self.spec.completionPolicy.type != 'Never' || !has(self.spec.completionPolicy.activeDeadlineSeconds)`,reason=FieldValueForbidden,message="must be absent with the type Never, which does not end: remove it or use Always"
// +kubebuilder:validation:XValidation:fieldPath=".spec.completionPolicy.ttlSecondsAfterFinished",rule=`!has(self.spec) || !has(self.spec.completionPolicy.type) || self.spec.completionPolicy.type != 'Never' || !has(self.spec.completionPolicy.ttlSecondsAfterFinished)`,reason=FieldValueForbidden,message="must be absent with the type Never, which does not end: remove it or use Always"
type ImagePullJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec ImagePullJobSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status ImagePullJobStatus `json:"status,omitempty"`
}

// ImagePullJobList is a list of ImagePullJobs.
//
// +kubebuilder:object:root=true
type ImagePullJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []ImagePullJob `json:"items"`
}
