// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// BroadcastJobNameLabel is on the pods of a BroadcastJob: the name of the
	// job. A template must not set it.
	BroadcastJobNameLabel = "broadcastjob-name"

	// BroadcastJobControllerUIDLabel is on the pods of a BroadcastJob: the UID of
	// the job. A template must not set it.
	BroadcastJobControllerUIDLabel = "broadcastjob-controller-uid"

	// DefaultBroadcastJobParallelism is the default of spec.parallelism: no limit.
	DefaultBroadcastJobParallelism = 1<<31 - 1
)

// BroadcastJobSpec says what to run on the nodes, and how fast.
type BroadcastJobSpec struct {
	// Parallelism is how many pods may be active at the same time: a number, or a
	// percentage of the desired nodes, rounded up. Default 2147483647, no limit;
	// 0 creates no pods.
	// +optional
	Parallelism *intstr.IntOrString `json:"parallelism,omitempty"`

	// Template describes the pods. Its restartPolicy must be Never or OnFailure. A
	// change affects new pods only.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Template corev1.PodTemplateSpec `json:"template"`

	// CompletionPolicy says when the job is over.
	// +optional
	CompletionPolicy CompletionPolicy `json:"completionPolicy,omitempty"`

	// Paused stops the creation and deletion of pods; those that run go on.
	// Default false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// FailurePolicy says what a failed pod means for the job.
	// +optional
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`
}

// CompletionPolicyType says whether a BroadcastJob ends.
type CompletionPolicyType string

const (
	// Always ends the job when the pod of every desired node has succeeded or
	// failed. The default.
	Always CompletionPolicyType = "Always"
	// Never keeps the job going, so that nodes that join later get a pod too.
	Never CompletionPolicyType = "Never"
)

// CompletionPolicy says when a BroadcastJob is over.
type CompletionPolicy struct {
	// Type is Always (default) or Never.
	// +optional
	Type CompletionPolicyType `json:"type,omitempty"`

	// ActiveDeadlineSeconds is the time in seconds after its start at which a
	// job that is not over fails. Not with the type Never. Default: no limit.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds after which a finished job
	// is deleted; 0 deletes it at once. Not with the type Never. Default: it is kept.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// FailurePolicyType says what a BroadcastJob does when a pod has failed.
type FailurePolicyType string

const (
	// FailurePolicyTypeFailFast fails the job and deletes its active pods. The default.
	FailurePolicyTypeFailFast FailurePolicyType = "FailFast"
	// FailurePolicyTypeContinue goes on with the other nodes.
	FailurePolicyTypeContinue FailurePolicyType = "Continue"
	// FailurePolicyTypePause creates no pods while a failed one exists.
	FailurePolicyTypePause FailurePolicyType = "Pause"
)

// FailurePolicy says what a failed pod means for a BroadcastJob.
type FailurePolicy struct {
	// Type is FailFast (default), Continue or Pause.
	// +optional
	Type FailurePolicyType `json:"type,omitempty"`

	// RestartLimit is how often the containers of a pod with the restart policy
	// OnFailure may restart, all together, before the pod counts as failed.
	// Default 0.
	// +optional
	RestartLimit int32 `json:"restartLimit,omitempty"`
}

// BroadcastJobPhase says in one word how far a job is.
type BroadcastJobPhase string

const (
	// PhaseRunning is the phase of a job that creates pods or waits for them.
	PhaseRunning BroadcastJobPhase = "running"
	// PhasePaused is the phase of a job that is paused, or held by a failed pod.
	PhasePaused BroadcastJobPhase = "paused"
	// PhaseCompleted is the last phase of a job that ran on every desired node.
	PhaseCompleted BroadcastJobPhase = "completed"
	// PhaseFailed is the last phase of a job that was ended early.
	PhaseFailed BroadcastJobPhase = "failed"
)

// BroadcastJobNodeResult is how the pod of a node ended.
type BroadcastJobNodeResult string

const (
	// NodeSucceeded says that the pod of the node succeeded.
	NodeSucceeded BroadcastJobNodeResult = "Succeeded"
	// NodeFailed says that the pod of the node failed, or was deleted because the
	// job failed.
	NodeFailed BroadcastJobNodeResult = "Failed"
)

// BroadcastJobStatus is the observed state of a BroadcastJob.
type BroadcastJobStatus struct {
	// ObservedGeneration is the generation that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions say that the job has ended, and why.
	// +optional
	Conditions []JobCondition `json:"conditions,omitempty"`

	// StartTime is when the job was first seen by its controller.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the job ended; nil while it goes on.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Active is the number of pods that are neither finished nor being deleted.
	// +optional
	Active int32 `json:"active"`

	// Succeeded is the number of nodes whose pod succeeded.
	// +optional
	Succeeded int32 `json:"succeeded"`

	// Failed is the number of nodes whose pod failed.
	// +optional
	Failed int32 `json:"failed"`

	// Desired is the number of nodes that the job is for.
	// +optional
	Desired int32 `json:"desired"`

	// Phase is running, paused, completed or failed.
	// +optional
	Phase BroadcastJobPhase `json:"phase"`

	// MoreNodeResults holds how the pods of nodes ended that NodeResults has no room for. By
	// result and two hexadecimal digits, as Succeeded-3f, it has the hashes of names that
	// begin with these. Each has 64 bits; they are sorted, and written in base64.
	// +optional
	MoreNodeResults map[string]string `json:"moreNodeResults,omitempty"`

	// NodeResults holds by node name how the pod of a node ended. So it stays
	// counted, and the node is not run again, when the pod is deleted. It names 1000
	// nodes at most, failed ones first.
	// +mapType=atomic
	// +optional
	NodeResults map[string]BroadcastJobNodeResult `json:"nodeResults,omitempty"`
}

// JobConditionType is the type of a JobCondition.
type JobConditionType string

const (
	// JobComplete says that the job ran on every desired node.
	JobComplete JobConditionType = "Complete"
	// JobFailed says that the job was ended by a failed pod or by its deadline.
	JobFailed JobConditionType = "Failed"
	// JobStalled is there beside JobFailed, for those who know no more of a kind than its JSON.
	// To kstatus, which Flux and Helm ask, the job has failed. OpenKruise does not know it.
	JobStalled JobConditionType = "Stalled"
	// JobPodTerminating says that the job waits for a pod that should have terminated long ago. OpenKruise does not know it.
	JobPodTerminating JobConditionType = "PodTerminating"
	// JobHeldUp says what has kept the job from its end for a minute; the message begins with the node. OpenKruise does not know it.
	JobHeldUp JobConditionType = "HeldUp"
)

// JobCondition describes one aspect of a BroadcastJob.
type JobCondition struct {
	// Type is what the condition is about.
	Type JobConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// +optional
	LastProbeTime metav1.Time `json:"lastProbeTime,omitempty"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// BroadcastJob runs a pod to its end on every node that fits the pod.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bcj
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".status.desired",description="The number of nodes that the job is for."
// +kubebuilder:printcolumn:name="Active",type="integer",JSONPath=".status.active",description="The number of pods that run."
// +kubebuilder:printcolumn:name="Succeeded",type="integer",JSONPath=".status.succeeded",description="The number of nodes whose pod succeeded."
// +kubebuilder:printcolumn:name="Failed",type="integer",JSONPath=".status.failed",description="The number of nodes whose pod failed."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule=`size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-zA-Z0-9-]+$')`,message="metadata.name must be at most 63 letters, digits and dashes: it is the value of a label and the beginning of the names of the pods"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a BroadcastJob needs a spec with a template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.completionPolicy.activeDeadlineSeconds",rule=`!has(self.spec) || !has(self.spec.completionPolicy) || !has(self.spec.completionPolicy.type) || self.spec.completionPolicy.type != 'Never' || !has(self.spec.completionPolicy.activeDeadlineSeconds)`,reason=FieldValueForbidden,message="must be absent with the type Never, which does not end: remove it or use Always"
// +kubebuilder:validation:XValidation:fieldPath=".spec.completionPolicy.ttlSecondsAfterFinished",rule=`!has(self.spec) || !has(self.spec.completionPolicy) || !has(self.spec.completionPolicy.type) || self.spec.completionPolicy.type != 'Never' || !has(self.spec.completionPolicy.ttlSecondsAfterFinished)`,reason=FieldValueForbidden,message="must be absent with the type Never, which does not end: remove it or use Always"
type BroadcastJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec BroadcastJobSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status BroadcastJobStatus `json:"status,omitempty"`
}

// BroadcastJobList is a list of BroadcastJobs.
//
// +kubebuilder:object:root=true
type BroadcastJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []BroadcastJob `json:"items"`
}
