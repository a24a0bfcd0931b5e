// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State records an in-place update in the annotation StateAnnotation.
type State struct {
	// Revision is the revision that the pod is updated to.
	Revision string `json:"revision"`

	// UpdateTimestamp is the time at which the whole update started.
	UpdateTimestamp metav1.Time `json:"updateTimestamp"`

	// LastContainerStatuses holds, by container name, what each container ran
	// before its image was replaced. Encoded as null when nothing was recorded.
	LastContainerStatuses map[string]ContainerStatus `json:"lastContainerStatuses"`

	// UpdateEnvFromMetadata says that the update changes environment variables
	// that come from labels or annotations of the pod.
	UpdateEnvFromMetadata bool `json:"updateEnvFromMetadata,omitempty"`

	// UpdateResources says that the update changes cpu and memory of containers. OpenKruise 1.8 and later write it, and
	// have no list of what was changed.
	UpdateResources bool `json:"updateResources,omitempty"`

	// NextContainerImages holds the images of the containers that wait for a
	// later batch, by container name.
	NextContainerImages map[string]string `json:"nextContainerImages,omitempty"`

	// NextContainerRefMetadata holds the labels and annotations that wait for
	// a later batch, by the name of the container whose environment needs them.
	NextContainerRefMetadata map[string]metav1.ObjectMeta `json:"nextContainerRefMetadata,omitempty"`

	// PreCheckBeforeNext is what must hold before the next batch starts. Nil
	// when nothing waits.
	PreCheckBeforeNext *PreCheck `json:"preCheckBeforeNext,omitempty"`

	// ContainerBatchesRecord lists the batches written so far, oldest first.
	ContainerBatchesRecord []ContainerBatch `json:"containerBatchesRecord,omitempty"`

	// LastContainers holds, by container name, what beside the image ID tells a
	// container of the new image from one before it. It has an entry for every
	// container whose image was replaced, also if no status was reported. A
	// state that OpenKruise has written lacks it; its readers ignore it.
	LastContainers map[string]LastContainer `json:"lastContainers,omitempty"`

	// NextContainerResources holds, by container name, the cpu and memory that the
	// containers have still to get. It stays until the kubelet has given them, whether
	// they were requested or not. It goes when that is done. Readers of OpenKruise
	// ignore it.
	NextContainerResources map[string]corev1.ResourceRequirements `json:"nextContainerResources,omitempty"`

	// ResizeAccepted says that the API server has accepted the request of
	// NextContainerResources, and that others have changed the quantities or may do so. What
	// the spec of the pod has is what the containers get, and nothing is requested again. Left
	// out while the spec has what was requested, and by readers of OpenKruise.
	ResizeAccepted bool `json:"resizeAccepted,omitempty"`

	// NextContainerRetries says that images from before came back after the update had replaced
	// them, and how often the update was begun. Left out otherwise, and by readers of OpenKruise.
	NextContainerRetries int32 `json:"nextContainerRetries,omitempty"`
}

// ContainerStatus is what a container ran before an in-place update.
type ContainerStatus struct {
	// ImageID is the image that the runtime reported; empty when it reported none.
	ImageID string `json:"imageID,omitempty"`
}

// LastContainer is which container there was before an in-place update.
type LastContainer struct {
	// ContainerID is the ID that was reported, with the runtime as its prefix;
	// empty when the container had not been started.
	ContainerID string `json:"containerID,omitempty"`
	// Images are the images of the spec that the container may have been started from, oldest first. They are the one that was
	// replaced, and before it those of updates that were not complete when the next began. The first of them and the last nine stay.
	Images []string `json:"images,omitempty"`
	// Image is the image that the update has set. Empty if a SidecarSet has, and in a
	// state of an earlier release.
	Image string `json:"image,omitempty"`
}

// PreCheck is what must hold before the next batch of containers is updated.
type PreCheck struct {
	// ContainersRequiredReady names the containers that must be ready, sorted.
	ContainersRequiredReady []string `json:"containersRequiredReady,omitempty"`
}

// ContainerBatch is one write of an in-place update.
type ContainerBatch struct {
	// Timestamp is when the batch was written.
	Timestamp metav1.Time `json:"timestamp"`
	// Containers names the containers changed by the batch, sorted.
	Containers []string `json:"containers"`
}

// Grace records, in the annotation GraceAnnotation, a change that waits for
// the end of its grace period.
type Grace struct {
	// Revision is the revision that the pod is updated to.
	Revision string `json:"revision"`
	// ContainerImages holds the new images by container name.
	ContainerImages map[string]string `json:"containerImages,omitempty"`
	// ContainerRefMetadata holds, by container name, the labels and
	// annotations that its environment refers to.
	ContainerRefMetadata map[string]metav1.ObjectMeta `json:"containerRefMetadata,omitempty"`
	// MetaDataPatch is a strategic-merge patch for the remaining metadata.
	MetaDataPatch []byte `json:"metaDataPatch,omitempty"`
	// UpdateEnvFromMetadata is carried over to the State.
	UpdateEnvFromMetadata bool `json:"updateEnvFromMetadata,omitempty"`
	// GraceSeconds is the length of the grace period in seconds.
	GraceSeconds int32 `json:"graceSeconds,omitempty"`
	// PreviousRevision is the revision label of the pod before the update, a key beside
	// those of OpenKruise. Empty if the pod cannot go back to it, since containers
	// had still to wait for their batch of an earlier update.
	PreviousRevision string `json:"previousRevision,omitempty"`
	// ContainerResources holds the new cpu and memory by container name, a key beside
	// those of OpenKruise.
	ContainerResources map[string]corev1.ResourceRequirements `json:"containerResources,omitempty"`
}

// RuntimeContainersMeta is what the node agent reports of the containers that
// really run, in the annotation RuntimeContainersMetaAnnotation.
type RuntimeContainersMeta struct {
	// Containers are the containers of the pod that run.
	Containers []RuntimeContainer `json:"containers"`
}

// RuntimeContainer is one running container as the runtime knows it.
type RuntimeContainer struct {
	// Name is that of the container in the pod.
	Name string `json:"name"`
	// ContainerID is what the runtime calls it, as the status of the pod has it: containerd://….
	ContainerID string `json:"containerID"`
	// RestartCount is how often the kubelet had restarted the container when it created this one.
	RestartCount int32 `json:"restartCount"`
	// Hashes are those of what it was created from.
	Hashes RuntimeContainerHashes `json:"hashes"`
}

// RuntimeContainerHashes identify the specification that a container was started from.
type RuntimeContainerHashes struct {
	// PlainHash is the kubelet's hash of the container's specification.
	PlainHash uint64 `json:"plainHash"`
	// ExtractedEnvFromMetadataHash is the hash of the environment that comes
	// from labels and annotations; 0 when unknown.
	ExtractedEnvFromMetadataHash uint64 `json:"extractedEnvFromMetadataHash,omitempty"`
}
