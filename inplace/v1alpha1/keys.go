// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import corev1 "k8s.io/api/core/v1"

const (
	// InPlaceUpdateReady is the readiness gate and the pod condition that is
	// False while a pod is updated in place and True otherwise.
	InPlaceUpdateReady corev1.PodConditionType = "InPlaceUpdateReady"

	// ReasonStartInPlaceUpdate is the reason of InPlaceUpdateReady while it is False.
	ReasonStartInPlaceUpdate = "StartInPlaceUpdate"

	// StateAnnotation holds a State as JSON. It stays after the update is complete.
	StateAnnotation = "apps.kruise.io/inplace-update-state"
	// LegacyStateAnnotation is read if StateAnnotation is absent, and
	// removed when a new state is written.
	LegacyStateAnnotation = "inplace-update-state"

	// GraceAnnotation holds a Grace as JSON while the change waits for its grace period.
	GraceAnnotation = "apps.kruise.io/inplace-update-grace"
	// LegacyGraceAnnotation is read if GraceAnnotation is absent.
	LegacyGraceAnnotation = "inplace-update-grace"

	// RuntimeContainersMetaAnnotation holds a RuntimeContainersMeta as JSON,
	// written by the node agent.
	RuntimeContainersMetaAnnotation = "apps.kruise.io/runtime-containers-meta"

	// PreDownloadCreatedLabel on a ControllerRevision says that the image
	// pre-download jobs of that revision have been created ("true").
	PreDownloadCreatedLabel = "apps.kruise.io/pre-predownload-created"
	// PreDownloadIgnoredLabel on a ControllerRevision says that this revision
	// needs no image pre-download ("true").
	PreDownloadIgnoredLabel = "apps.kruise.io/image-predownload-ignored"
	// PreDownloadParallelismAnnotation on a workload: nodes that pull at the
	// same time, an integer; default 1.
	PreDownloadParallelismAnnotation = "apps.kruise.io/image-predownload-parallelism"
	// PreDownloadTimeoutSecondsAnnotation on a workload: seconds that one pull
	// may take; default 300.
	PreDownloadTimeoutSecondsAnnotation = "apps.kruise.io/image-predownload-timeout-seconds"
	// PreDownloadMinUpdatedReadyPodsAnnotation on a workload: an integer or a
	// percentage of the replicas (rounded up) that must be updated and ready
	// before images are pre-downloaded. Default 0.
	PreDownloadMinUpdatedReadyPodsAnnotation = "apps.kruise.io/image-predownload-min-updated-ready-pods"
)
