// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeImageSpec says which images to pull to a node.
type NodeImageSpec struct {
	// Images are the images by name, without tag and in the short form: nginx,
	// not docker.io/library/nginx. At most 256. Default: none.
	// +optional
	Images map[string]ImageSpec `json:"images,omitempty"`
}

// ImageSpec says which tags of an image to pull, and how.
type ImageSpec struct {
	// PullSecrets refer to the secrets with the credentials of the registry;
	// they are tried in turn. Default: none, the image is public.
	// +optional
	PullSecrets []ReferenceObject `json:"pullSecrets,omitempty"`

	// Tags are the tags to pull, sorted by name; each stands once. An image
	// without tags is removed.
	Tags []ImageTagSpec `json:"tags"`

	// SandboxConfig is handed to the container runtime with every pull.
	// +optional
	SandboxConfig *SandboxConfig `json:"sandboxConfig,omitempty"`
}

// ReferenceObject refers to an object by namespace and name.
type ReferenceObject struct {
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// Mode is what OpenKruise 1.9 writes beside a pull secret: batch, if jobs share the copy. It is kept, and changes no pull.
	// Default: none.
	// +optional
	Mode string `json:"mode,omitempty"`
}

// PullSecretModeBatch says that the reference stays until its image has no tags. (IMG-1.16)
const PullSecretModeBatch = "batch"

// ImageTagSpec is the task to pull one tag of an image.
type ImageTagSpec struct {
	// Tag is the tag, or a digest (sha256:…).
	Tag string `json:"tag"`

	// CreatedAt is when the task was given. Default: now, filled in by the
	// webhook; a task that has none is removed.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`

	// PullPolicy bounds the task. It must say ttlSecondsAfterFinished.
	// +optional
	PullPolicy *ImageTagPullPolicy `json:"pullPolicy,omitempty"`

	// OwnerReferences are the jobs that want the tag. The task is removed when
	// all of them are gone; one without owners is kept until its TTL.
	// +optional
	OwnerReferences []corev1.ObjectReference `json:"ownerReferences,omitempty"`

	// Version counts the times that the tag was asked for, 0 or more. A node
	// that has finished a version pulls again when the number rises.
	// +optional
	Version int64 `json:"version,omitempty"`

	// ImagePullPolicy is that of the job that asked last: Always, or IfNotPresent (default).
	// +optional
	ImagePullPolicy ImagePullPolicy `json:"imagePullPolicy,omitempty"`
}

// ImageTagPullPolicy bounds the task to pull a tag.
type ImageTagPullPolicy struct {
	// TimeoutSeconds is the time in seconds that one attempt may take. Default 600.
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// BackoffLimit is how often a failed attempt is repeated. Default 3; a
	// negative number counts as 3.
	// +optional
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds after which a finished
	// task is removed. It has no default and must be given.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// ActiveDeadlineSeconds is the time in seconds after which a task that is
	// not finished has failed. Default: no limit.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
}

// ImagePullPhase says how far the pull of a tag is.
type ImagePullPhase string

const (
	// ImagePhaseWaiting is the phase of a pull that has not started. Agents of OpenKruise 1.9 report it; those of podwright
	// begin at once, or leave the status out.
	ImagePhaseWaiting ImagePullPhase = "Waiting"
	// ImagePhasePulling is the phase of a pull that goes on.
	ImagePhasePulling ImagePullPhase = "Pulling"
	// ImagePhaseSucceeded is the phase of a tag that the node has.
	ImagePhaseSucceeded ImagePullPhase = "Succeeded"
	// ImagePhaseFailed is the phase of a pull that the node has given up.
	ImagePhaseFailed ImagePullPhase = "Failed"
)

// NodeImageStatus is what a node has done of its tasks.
type NodeImageStatus struct {
	// ObservedGeneration is the metadata.generation that the node agent has seen
	// when it wrote the status; 0 until it has. If pods pull in place of
	// agents, the controller writes it. OpenKruise does not have it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Desired is the number of tags in the spec.
	Desired int32 `json:"desired"`

	// Succeeded is the number of tags that the node has.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`

	// Failed is the number of tags that the node has given up.
	// +optional
	Failed int32 `json:"failed,omitempty"`

	// Pulling is the number of tags that the node pulls.
	// +optional
	Pulling int32 `json:"pulling,omitempty"`

	// Waiting is the number of tags that the node has queued, as agents of OpenKruise 1.9 report them.
	// +optional
	Waiting int32 `json:"waiting,omitempty"`

	// ImageStatuses are the states of the images by name, as in the spec.
	// +optional
	ImageStatuses map[string]ImageStatus `json:"imageStatuses,omitempty"`

	// FirstSyncStatus is kept for clients that know it. Neither manager nor agent writes it.
	// +optional
	FirstSyncStatus *SyncStatus `json:"firstSyncStatus,omitempty"`
}

// ImageStatus holds the states of the tags of an image.
type ImageStatus struct {
	// Tags are the states of the tags, sorted by name.
	Tags []ImageTagStatus `json:"tags"`
}

// ImageTagStatus says how far the pull of one tag is.
type ImageTagStatus struct {
	// Tag is the tag or digest, as in the spec.
	Tag string `json:"tag"`

	// Phase is Pulling, Succeeded or Failed. Agents of OpenKruise 1.9 report Waiting, too.
	Phase ImagePullPhase `json:"phase"`

	// Progress is how much has been pulled, in percent. Few container runtimes
	// tell; with the others it goes from 0 to 100.
	// +optional
	Progress int32 `json:"progress,omitempty"`

	// StartTime is when the pull began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the pull succeeded or failed; nil while it goes
	// on. A tag that has it is not pulled again in the same version.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Version is the version of the task that this is the state of.
	// +optional
	Version int64 `json:"version,omitempty"`

	// ImageID is the image as the runtime knows it, NAME@ID. Empty if the
	// runtime did not list it.
	// +optional
	ImageID string `json:"imageID,omitempty"`

	// Message says in words why the pull failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// SyncStatusPhase is the result in a SyncStatus.
type SyncStatusPhase string

// SyncStatus says how the first look at the images of a node went.
type SyncStatus struct {
	// +optional
	SyncAt *metav1.Time `json:"syncAt,omitempty"`
	// +optional
	Status SyncStatusPhase `json:"status,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// NodeImage tells the agent of a node which images to pull, and tells how far
// it is. It has the name and the labels of the node, is made when the node is
// ready, and is deleted with it.
//
// The rules for single tags are left to the webhook: as rules of the schema they
// would cost more than the API server allows.
//
// +genclient
// +genclient:nonNamespaced
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".status.desired",description="The number of tags to pull."
// +kubebuilder:printcolumn:name="PULLING",type="integer",JSONPath=".status.pulling",description="The number of tags that the node pulls."
// +kubebuilder:printcolumn:name="SUCCEED",type="integer",JSONPath=".status.succeeded",description="The number of tags that the node has."
// +kubebuilder:printcolumn:name="FAILED",type="integer",JSONPath=".status.failed",description="The number of tags that the node has given up."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:fieldPath=".spec.images",rule=`!has(self.spec) || !has(self.spec.images) || size(self.spec.images) <= 256`,message="must hold at most 256 images"
// +kubebuilder:validation:XValidation:fieldPath=".spec.images",rule=`!has(self.spec) || !has(self.spec.images) || !("" in self.spec.images)`,message="every key must name an image"
type NodeImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec NodeImageSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status NodeImageStatus `json:"status,omitempty"`
}

// NodeImageList is a list of NodeImages.
//
// +kubebuilder:object:root=true
type NodeImageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []NodeImage `json:"items"`
}
