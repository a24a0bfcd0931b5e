// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Environment variables that mark a container of a pod as a sidecar, to be terminated
// once the containers without such a mark have finished. Their plain values count.
const (
	// TerminateSidecarEnv is "true", in any case, for a container that is stopped by a
	// ContainerRecreateRequest. On virtual nodes it has no effect.
	TerminateSidecarEnv = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT"
	// TerminateSidecarWithImageEnv is an image that exits at once: the container gets
	// it in place of its own. Empty has no effect.
	TerminateSidecarWithImageEnv = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT_WITH_IMAGE"
	// TerminateSidecarIgnoreExitCodeEnv is "true", in any case, beside TerminateSidecarEnv, for a sidecar whose exit code
	// must not decide what becomes of the pod. It matters with terminator.Features.LeavePhase; otherwise no exit code of a
	// sidecar does. OpenKruise 1.4 does not know it.
	TerminateSidecarIgnoreExitCodeEnv = "KRUISE_TERMINATE_SIDECAR_IGNORE_EXIT_CODE"
)

const (
	// SidecarTerminationRequestPrefix with the UID of a pod is the name of the
	// ContainerRecreateRequest that stops its sidecars.
	SidecarTerminationRequestPrefix = "sidecar-termination-"

	// SidecarTerminatedCondition is, on a pod, True if its phase was written by the
	// sidecar terminator, for the reason that the message says. OpenKruise 1.4 does not
	// know it.
	SidecarTerminatedCondition corev1.PodConditionType = "SidecarTerminated"

	// SidecarPhaseWrittenAnnotation is, on a pod, when the sidecar terminator last wrote its
	// phase, in RFC 3339 with nanoseconds. Its change has the kubelet look at the pod at
	// once, which a change of the status alone does not. OpenKruise does not know it.
	SidecarPhaseWrittenAnnotation = "sidecar.podwright.io/phase-written"
)

// Events about a pod whose sidecars are terminated.
const (
	// SidecarTerminatorEventSource is the component that reports the events.
	SidecarTerminatorEventSource = "sidecarterminator-controller"
	// SidecarTerminatorEvent is the reason of a Normal event: sidecars are told to end.
	SidecarTerminatorEvent = "SidecarTerminator"
	// SidecarTerminatorEventFormat is the message of SidecarTerminatorEvent; it takes the
	// names of the sidecars, and SidecarTerminatorByImage or SidecarTerminatorByRequest.
	SidecarTerminatorEventFormat = "Kruise SidecarTerminator is trying to terminate sidecar %v using %s"
	// SidecarTerminatorByImage and SidecarTerminatorByRequest are the two ways.
	SidecarTerminatorByImage   = "in-place update"
	SidecarTerminatorByRequest = "crr"
	// FailedTerminateSidecarEvent is the reason of a Warning event: the API server
	// refused what would tell sidecars to end. OpenKruise does not record it.
	FailedTerminateSidecarEvent = "FailedTerminateSidecar"
)
