// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EphemeralJobSpec says which containers are injected into which pods.
type EphemeralJobSpec struct {
	// Selector selects the pods, by their labels, in the namespace of the job. The empty
	// selector selects all of them.
	Selector *metav1.LabelSelector `json:"selector"`

	// Replicas is how many pods the job is for at most. Default: all that the selector
	// selects. 0 or less: none.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Parallelism is in how many pods containers of the job may be under way at the same
	// time. Default 1. 0 or less: nothing is injected.
	// +optional
	Parallelism *int32 `json:"parallelism,omitempty"`

	// Template holds what is injected.
	Template EphemeralContainerTemplateSpec `json:"template"`

	// Paused stops injecting. What was injected runs on, and so does the time of the
	// deadline.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// ActiveDeadlineSeconds is after how many seconds from status.startTime the job fails.
	// It stops no container. Default: no limit.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// TTLSecondsAfterFinished is how many seconds after it has finished the job is deleted.
	// Default 1800. 0 or less: at once.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// EphemeralContainerTemplateSpec holds the containers that are injected.
type EphemeralContainerTemplateSpec struct {
	// EphemeralContainers are injected into each pod, all at once. Kubernetes never lets one
	// of a pod be changed, removed or restarted, and a name serves once per pod.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	EphemeralContainers []corev1.EphemeralContainer `json:"ephemeralContainers"`

	// Unreadable says why EphemeralContainers could not be decoded, and is empty here then;
	// otherwise it is empty itself. It is not part of the object.
	Unreadable string `json:"-"`
}

// UnmarshalJSON decodes a template. What stands for its containers and cannot be, which the CRD
// accepts, is no error: it would keep every list of jobs from being read.
func (t *EphemeralContainerTemplateSpec) UnmarshalJSON(data []byte) error {
	type template EphemeralContainerTemplateSpec // without this method
	var read template
	if err := json.Unmarshal(data, &read); err != nil {
		if !json.Valid(data) {
			return err
		}
		read = template{Unreadable: err.Error()}
	}
	*t = EphemeralContainerTemplateSpec(read)
	return nil
}

// EphemeralJobPhase says in one word how far a job is.
type EphemeralJobPhase string

const (
	// EphemeralJobSucceeded is the last phase of a job whose containers have all ended with
	// exit code 0.
	EphemeralJobSucceeded EphemeralJobPhase = "Succeeded"
	// EphemeralJobFailed is the last phase of a job that has run out of time, or of whose
	// containers one has failed.
	EphemeralJobFailed EphemeralJobPhase = "Failed"
	// EphemeralJobWaiting is the phase of a job that selects no pod, or in all of whose pods
	// containers wait to be started.
	EphemeralJobWaiting EphemeralJobPhase = "Waiting"
	// EphemeralJobRunning is the phase of a job of which containers run.
	EphemeralJobRunning EphemeralJobPhase = "Running"
	// EphemeralJobPaused is the phase of a job that is paused.
	EphemeralJobPaused EphemeralJobPhase = "Paused"
	// EphemeralJobError is the phase of a job whose spec has an error.
	EphemeralJobError EphemeralJobPhase = "Error"
	// EphemeralJobUnknown is the phase of a job of which nothing of the above can be said, as
	// when it has just begun.
	EphemeralJobUnknown EphemeralJobPhase = "Unknown"
)

// EphemeralJobConditionType is the type of an EphemeralJobCondition.
type EphemeralJobConditionType string

const (
	// EphemeralJobInitialized says that the controller has seen the job.
	EphemeralJobInitialized EphemeralJobConditionType = "Initialized"
	// EphemeralJobMatchedEmpty says that the job is for no pod.
	EphemeralJobMatchedEmpty EphemeralJobConditionType = "MatchedEmpty"
	// EphemeralJobConditionSucceeded says that the job has succeeded.
	EphemeralJobConditionSucceeded EphemeralJobConditionType = "JobSucceeded"
	// EphemeralJobConditionFailed says that containers have failed, or that the job has run out of time.
	EphemeralJobConditionFailed EphemeralJobConditionType = "JobFailed"
	// EphemeralJobConditionError says that the spec has an error.
	EphemeralJobConditionError EphemeralJobConditionType = "JobError"
	// EphemeralJobRefused says that the API server refuses to inject the containers, into
	// which pods and why. OpenKruise does not know it.
	EphemeralJobRefused EphemeralJobConditionType = "InjectionRefused"
	// EphemeralJobNotStarted says in which pods no container of the job runs, and why. They wait for a node, for the kubelet, or
	// for what the kubelet says. They hold no place of spec.parallelism.
	EphemeralJobNotStarted EphemeralJobConditionType = "NotStarted"
	// EphemeralJobNamesTaken says which pods the job leaves out since they have other
	// ephemeral containers of the same names. OpenKruise does not know it.
	EphemeralJobNamesTaken EphemeralJobConditionType = "NamesTaken"
	// EphemeralJobHeldUp says what keeps the job from its end, and since when. It is True or absent. OpenKruise does not know it.
	EphemeralJobHeldUp EphemeralJobConditionType = "HeldUp"
)

// The reasons of conditions.
const (
	EphemeralJobReasonInitialized      = "Initialized"
	EphemeralJobReasonMatchEmpty       = "MatchEmpty"
	EphemeralJobReasonSucceeded        = "JobSucceeded"
	EphemeralJobReasonCreateFailed     = "CreateFailed"
	EphemeralJobReasonDeadlineExceeded = "DeadlineExceeded"
	EphemeralJobReasonError            = "Error"
	// EphemeralJobReasonMatched is that of MatchedEmpty with the status False.
	EphemeralJobReasonMatched = "Matched"
	// EphemeralJobReasonValid is that of JobError with the status False.
	EphemeralJobReasonValid = "Valid"
	// EphemeralJobReasonAccepted is that of InjectionRefused with the status False.
	EphemeralJobReasonAccepted = "Accepted"
	// EphemeralJobReasonRefused is that of InjectionRefused.
	EphemeralJobReasonRefused = "Refused"
	// EphemeralJobReasonNotStarted is that of NotStarted.
	EphemeralJobReasonNotStarted = "NotStarted"
	// EphemeralJobReasonStarted is that of NotStarted with the status False.
	EphemeralJobReasonStarted = "Started"
	// EphemeralJobReasonTaken is that of NamesTaken.
	EphemeralJobReasonTaken = "Taken"
	// EphemeralJobReasonFree is that of NamesTaken with the status False.
	EphemeralJobReasonFree = "Free"
)

// EphemeralJobCondition describes one aspect of an EphemeralJob.
type EphemeralJobCondition struct {
	// Type is what the condition is about.
	Type EphemeralJobConditionType `json:"type"`
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

// EphemeralJobPodResult is how a container of a pod ended. OpenKruise does not know it.
type EphemeralJobPodResult struct {
	// Pod is the name of the pod.
	Pod string `json:"pod"`
	// Container is the name of the container in the pod.
	Container string `json:"container"`
	// ExitCode is the exit code; nil if the container could not be started.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Reason is the word that the kubelet has for it, such as Completed, Error or OOMKilled.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is the termination message of the container, the last 1024 bytes of it.
	// +optional
	Message string `json:"message,omitempty"`
}

// EphemeralJobStatus is the observed state of an EphemeralJob.
type EphemeralJobStatus struct {
	// ObservedGeneration is the generation that this status was computed from. OpenKruise
	// does not know it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions say what has become of the job, and what is in its way.
	// +optional
	Conditions []EphemeralJobCondition `json:"conditions,omitempty"`

	// StartTime is when the job was first seen by its controller.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the job finished; nil while it goes on.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Phase is Succeeded, Failed, Waiting, Running, Paused, Error or Unknown.
	// +optional
	Phase EphemeralJobPhase `json:"phase"`

	// Matches is the number of pods that the job is for.
	// +optional
	Matches int32 `json:"match"`

	// Running is the number of pods in which a container of the job runs, and none has failed.
	// +optional
	Running int32 `json:"running"`

	// Succeeded is the number of pods in which all containers have ended with exit code 0.
	// +optional
	Succeeded int32 `json:"succeeded"`

	// Waiting is the number of pods in which a container of the job waits to be started, and
	// none runs or has failed.
	// +optional
	Waiting int32 `json:"waiting"`

	// Failed is the number of pods in which a container has ended with another exit code, or
	// could not be started.
	// +optional
	Failed int32 `json:"failed"`

	// Skipped is the number of selected pods that the job leaves out, since they have other
	// ephemeral containers of the same names. OpenKruise does not know it.
	// +optional
	Skipped int32 `json:"skipped,omitempty"`

	// PodResults is how containers ended, by pod and container: first those that failed, then
	// by the names. OpenKruise does not know it.
	// +optional
	// +listType=atomic
	PodResults []EphemeralJobPodResult `json:"podResults,omitempty"`

	// OmittedPodResults is the number of results that PodResults has no room for. OpenKruise does not know it.
	// +optional
	OmittedPodResults int32 `json:"omittedPodResults,omitempty"`
}

// EphemeralJob injects ephemeral containers into pods, a limited number at a time, and tells
// how they ended.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ejob
// +kubebuilder:printcolumn:name="STATUS",type="string",JSONPath=".status.phase",description="How far the job is."
// +kubebuilder:printcolumn:name="MATCH",type="integer",JSONPath=".status.match",description="The number of pods that the job is for."
// +kubebuilder:printcolumn:name="SUCCEED",type="integer",JSONPath=".status.succeeded",description="The number of pods in which all containers have succeeded."
// +kubebuilder:printcolumn:name="FAILED",type="integer",JSONPath=".status.failed",description="The number of pods in which a container has failed."
// +kubebuilder:printcolumn:name="RUNNING",type="integer",JSONPath=".status.running",description="The number of pods in which a container runs."
// +kubebuilder:printcolumn:name="WAITING",type="integer",JSONPath=".status.waiting",description="The number of pods in which a container waits to be started."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type EphemeralJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec EphemeralJobSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status EphemeralJobStatus `json:"status,omitempty"`
}

// EphemeralJobList is a list of EphemeralJobs.
//
// +kubebuilder:object:root=true
type EphemeralJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []EphemeralJob `json:"items"`
}
