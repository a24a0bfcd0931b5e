// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ImageListPullJobSpec says which images to pull to which nodes. All but Images is that of an ImagePullJob, which each image gets.
type ImageListPullJobSpec struct {
	// Images are the images to pull, 1 to 255, each once.
	Images []string `json:"images"`

	// PullSecrets names the secrets of the job's namespace with the
	// credentials of the registries. Default: none, the images are public.
	// +optional
	PullSecrets []string `json:"pullSecrets,omitempty"`

	// Selector selects nodes. It excludes podSelector. Default, if
	// podSelector is missing too: all nodes.
	// +optional
	Selector *ImagePullJobNodeSelector `json:"selector,omitempty"`

	// PodSelector selects pods of the job's namespace by label; the images are
	// pulled to the nodes that they are scheduled to. It excludes selector.
	// +optional
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`

	// Parallelism is how many nodes pull one image at the same time: a number, or a
	// percentage of the nodes, rounded up. Default 1; 0 pauses the job.
	// +optional
	Parallelism *intstr.IntOrString `json:"parallelism,omitempty"`

	// PullPolicy bounds the attempts of one node at one image.
	// +optional
	PullPolicy *PullPolicy `json:"pullPolicy,omitempty"`

	// CompletionPolicy says when the job is over. Its deadline is that of each image.
	CompletionPolicy CompletionPolicy `json:"completionPolicy"`

	// SandboxConfig is handed to the container runtime with every pull.
	// +optional
	SandboxConfig *SandboxConfig `json:"sandboxConfig,omitempty"`

	// ImagePullPolicy is Always, if a node is to ask the registry also for an image that it has, or IfNotPresent (default).
	// +optional
	ImagePullPolicy ImagePullPolicy `json:"imagePullPolicy,omitempty"`
}

// ImageListPullJobStatus is the observed state of an ImageListPullJob. It counts the ImagePullJobs of the present spec.
type ImageListPullJobStatus struct {
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

	// Desired is the number of images.
	Desired int32 `json:"desired"`

	// Active is the number of images that nodes pull now.
	// +optional
	Active int32 `json:"active,omitempty"`

	// Completed is the number of images that every node has, or has given up.
	// +optional
	Completed int32 `json:"completed,omitempty"`

	// Succeeded is the number of images that every node has.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`

	// FailedImageStatuses are the images that a node has given up, and those whose ImagePullJob cannot be created, sorted by name.
	// +optional
	FailedImageStatuses []FailedImageStatus `json:"failedImageStatuses,omitempty"`
}

// FailedImageStatus is an image that some node does not get.
type FailedImageStatus struct {
	// ImagePullJob is the name of the image's job, which names the nodes.
	// +optional
	ImagePullJob string `json:"imagePullJob,omitempty"`

	// Name is the image, as in the spec.
	// +optional
	Name string `json:"name,omitempty"`

	// Message says in words what has failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// ImageListPullJob pulls several images to nodes, each by an ImagePullJob of its own.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="TOTAL",type="integer",JSONPath=".status.desired",description="The number of images to pull."
// +kubebuilder:printcolumn:name="SUCCEEDED",type="integer",JSONPath=".status.succeeded",description="The number of images that every node has."
// +kubebuilder:printcolumn:name="COMPLETED",type="integer",JSONPath=".status.completed",description="The number of images that every node has, or has given up."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="an ImageListPullJob needs a spec with images and completionPolicy"
// +kubebuilder:validation:XValidation:fieldPath=".spec.images",rule=`!has(self.spec) || size(self.spec.images) > 0`,reason=FieldValueRequired,message="must name an image"
// +kubebuilder:validation:XValidation:fieldPath=".spec.images",rule=`!has(self.spec) || size(self.spec.images) <= 255`,message="must hold at most 255 images"
// +kubebuilder:validation:XValidation:fieldPath=".spec.podSelector",rule=`!has(self.spec) || !has(self.spec.selector) || !has(self.spec.podSelector)`,reason=FieldValueForbidden,message="must be absent if selector is given: keep one of the two"
// +kubebuilder:validation:XValidation:fieldPath=".spec.completionPolicy.type",rule=`!has(self.spec) || !has(self.spec.completionPolicy.type) || size(self.spec.completionPolicy.type) == 0 || self.spec.completionPolicy.type in ['Always', 'Never']`,messageExpression=`'must be Always or Never, is ' + self.spec.completionPolicy.type`
// +kubebuilder:validation:XValidation:fieldPath=".spec.completionPolicy.activeDeadlineSeconds",rule=`!has(self.spec) || !has(self.spec.completionPolicy.type) || self.spec.completionPolicy.type != 'Never' || !has(self.spec.completionPolicy.activeDeadlineSeconds)`,reason=FieldValueForbidden,message="must be absent with the type Never, which does not end: remove it or use Always"
// +kubebuilder:validation:XValidation:fieldPath=".spec.completionPolicy.ttlSecondsAfterFinished",rule=`!has(self.spec) || !has(self.spec.completionPolicy.type) || self.spec.completionPolicy.type != 'Never' || !has(self.spec.completionPolicy.ttlSecondsAfterFinished)`,reason=FieldValueForbidden,message="must be absent with the type Never, which does not end: remove it or use Always"
type ImageListPullJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec ImageListPullJobSpec `json:"spec,omitempty"`
	// Status is the observed state. The controller writes it, users do not.
	Status ImageListPullJobStatus `json:"status,omitempty"`
}

// ImageListPullJobList is a list of ImageListPullJobs.
//
// +kubebuilder:object:root=true
type ImageListPullJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []ImageListPullJob `json:"items"`
}
