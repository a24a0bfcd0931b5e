// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Labels, annotations and the finalizer of a ContainerRecreateRequest. The
// first two labels are set when it is created and cannot be changed.
const (
	// ContainerRecreateRequestNodeNameLabel is the node of the pod. A node
	// agent watches the requests that have its node here and
	// ContainerRecreateRequestActiveLabel.
	ContainerRecreateRequestNodeNameLabel = "crr.apps.kruise.io/node-name"
	// ContainerRecreateRequestPodUIDLabel is the UID of the pod: a later pod of
	// the same name is not meant.
	ContainerRecreateRequestPodUIDLabel = "crr.apps.kruise.io/pod-uid"
	// VirtualNodeLabel on a node has the value VirtualNodeValue if no kubelet runs it. A request for a pod of such a node can have it, too.
	VirtualNodeLabel = "type"
	VirtualNodeValue = "virtual-kubelet"
	// ContainerRecreateRequestActiveLabel is "true" until the request is
	// completed, and is removed then.
	ContainerRecreateRequestActiveLabel = "crr.apps.kruise.io/active"

	// ContainerRecreateRequestSyncContainerStatusesAnnotation holds a JSON list
	// of ContainerRecreateRequestSyncContainerStatus.
	ContainerRecreateRequestSyncContainerStatusesAnnotation = "crr.apps.kruise.io/sync-container-statuses"
	// ContainerRecreateRequestUnreadyAcquiredAnnotation is the time (RFC 3339)
	// from which unreadyGracePeriodSeconds counts. Once set it cannot be changed.
	ContainerRecreateRequestUnreadyAcquiredAnnotation = "crr.apps.kruise.io/unready-acquired"
	// ContainerRecreateRequestUnreadyAcquiredFinalizer keeps a request from
	// vanishing before it has put the pod back into service.
	ContainerRecreateRequestUnreadyAcquiredFinalizer = "crr.apps.kruise.io/unready-acquired"

	// ContainerRecreateRequestCompletionSeenAnnotation is the time (RFC 3339) at
	// which a controller saw that the request was completed, by its own clock. The
	// node that has completed it may have another one. ttlSecondsAfterFinished
	// counts from it. OpenKruise does not know it.
	ContainerRecreateRequestCompletionSeenAnnotation = "crr.podwright.io/completion-seen"
	// ContainerRecreateRequestStoppingAnnotation is the container that a node agent
	// stops for a request with forceRecreate: NAME=RUNTIME://ID. By it an agent that
	// is started again tells it from the container that takes its place. OpenKruise
	// does not know it.
	ContainerRecreateRequestStoppingAnnotation = "crr.podwright.io/stopping"

	// ContainerRecreateRequestUserAgent is the writer under which a request is
	// listed on the condition KruisePodReady; its key is NAMESPACE/NAME.
	ContainerRecreateRequestUserAgent = "ContainerRecreateRequest"
)

// ContainerRecreateRequestSyncContainerStatus is one entry of
// ContainerRecreateRequestSyncContainerStatusesAnnotation. It is what the pod's status
// says of a requested container that has taken the place of the one for which the
// request was created. A node agent knows of readiness by it. The list is in the order of
// the spec; if no container qualifies it is empty, "[]".
type ContainerRecreateRequestSyncContainerStatus struct {
	// Name is the name of the container.
	Name string `json:"name"`
	// Ready is whether the container is ready.
	Ready bool `json:"ready"`
	// RestartCount is how often the container has been restarted.
	RestartCount int32 `json:"restartCount"`
	// ContainerID is the ID with the runtime as its prefix.
	ContainerID string `json:"containerID,omitempty"`
}

// Bounds and defaults of a ContainerRecreateRequest.
const (
	// MinContainerRecreateActiveDeadlineSeconds is the smallest
	// activeDeadlineSeconds that is accepted.
	MinContainerRecreateActiveDeadlineSeconds = 3
	// DefaultContainerRecreateGracePeriodSeconds is the grace period in seconds
	// if neither the request nor the pod gives one.
	DefaultContainerRecreateGracePeriodSeconds = 30
	// MinContainerRecreateGracePeriodSeconds is the least time in seconds that
	// a container has to stop after its preStop hook.
	MinContainerRecreateGracePeriodSeconds = 2
	// ContainerRecreateResponseSeconds is the time in seconds from the creation
	// of a request in which a node agent must have given it a phase.
	ContainerRecreateResponseSeconds = 60
)

// Messages in the status of a ContainerRecreateRequest.
const (
	// ContainerRecreateMessagePodGone: the pod is deleted or being deleted, or
	// another one has its name.
	ContainerRecreateMessagePodGone = "pod has gone"
	// ContainerRecreateMessageNoResponse: no node agent has answered in
	// ContainerRecreateResponseSeconds, or it has not gone on while the pod was out of
	// service.
	ContainerRecreateMessageNoResponse = "daemon has not responded for a long time"
	// ContainerRecreateMessageDeadline: activeDeadlineSeconds are over.
	ContainerRecreateMessageDeadline = "recreating has exceeded the activeDeadlineSeconds"
	// ContainerRecreateMessageForeignPod: the runtime has the containers with the UID
	// of the request as those of a pod of another name or namespace. OpenKruise does
	// not know it, nor the next one.
	ContainerRecreateMessageForeignPod = "the containers belong to another pod"
	// ContainerRecreateMessageStaticPod: the kubelet runs the pod from a file, and the
	// API server has only its mirror.
	ContainerRecreateMessageStaticPod = "containers of static pods are not recreated"
	// ContainerRecreateMessageUnreadyTime starts the message if
	// ContainerRecreateRequestUnreadyAcquiredAnnotation is no time; more follows
	// after a space.
	ContainerRecreateMessageUnreadyTime = "failed to parse unready time"
	// ContainerRecreateMessageNoRuntime starts the message if the node has no
	// container runtime that the containers belong to; ": " and the reason follow.
	ContainerRecreateMessageNoRuntime = "failed to find runtime service"

	// ContainerRecreateStateMessageNotFound is the message of a container that
	// the runtime does not have.
	ContainerRecreateStateMessageNotFound = "not found container on Node"
	// ContainerRecreateStateMessageKillFailed starts the message of a container
	// that could not be stopped; ": " and the reason follow.
	ContainerRecreateStateMessageKillFailed = "kill container error"
)

// Events on the pod of a ContainerRecreateRequest.
const (
	// ContainerRecreateEventSource is the component that reports the events.
	ContainerRecreateEventSource = "kruise-daemon-crr"
	// ContainerRecreateEventKilling is the reason of a Normal event: a container
	// is going to be stopped.
	ContainerRecreateEventKilling = "Killing"
	// ContainerRecreateEventKillingFormat is the message of
	// ContainerRecreateEventKilling; it takes the names of the container and of
	// the request.
	ContainerRecreateEventKillingFormat = "Stopping container %s by ContainerRecreateRequest %s"
	// ContainerRecreateEventFailedPreStopHook is the reason of a Warning event:
	// a preStop hook failed, and the container is stopped nevertheless.
	ContainerRecreateEventFailedPreStopHook = "FailedPreStopHook"
)
