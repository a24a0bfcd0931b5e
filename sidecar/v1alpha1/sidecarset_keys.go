// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// Labels and annotations of a SidecarSet, its revisions, and the pods that it has
// injected containers into.
const (
	// SidecarSetHashAnnotation is, on a SidecarSet and its revisions, the hash of its
	// containers. On a pod it is a JSON object of SidecarSetUpgradeRecord by the name of
	// the SidecarSet. OpenKruise before 0.5 wrote the hashes alone there.
	SidecarSetHashAnnotation = "kruise.io/sidecarset-hash"
	// SidecarSetHashWithoutImageAnnotation is the same of the containers without their
	// images: pods for which it is another one cannot be updated in place.
	SidecarSetHashWithoutImageAnnotation = "kruise.io/sidecarset-hash-without-image"
	// SidecarSetInjectedListAnnotation names, on a pod, the SidecarSets that matched it
	// when it was created, sorted, and separated by commas.
	SidecarSetInjectedListAnnotation = "kruise.io/sidecarset-injected-list"
	// SidecarSetInPlaceUpdateStateAnnotation is, on a pod, a JSON object of
	// SidecarSetInPlaceUpdateState by the name of the SidecarSet.
	SidecarSetInPlaceUpdateStateAnnotation = "kruise.io/sidecarset-inplace-update-state"
	// SidecarSetWorkingHotUpgradeContainerAnnotation is, on a pod, a JSON object that
	// says for each container with the upgrade type HotUpgrade which of its two
	// containers works.
	SidecarSetWorkingHotUpgradeContainerAnnotation = "kruise.io/sidecarset-working-hotupgrade-container"
	// SidecarSetVersionAnnotationPrefix with the name of a hot container is its version. When both
	// are created, it is "1" for the working one and "0" for the other. Then it is the
	// resourceVersion of the SidecarSet that updated it, and "0" when it is emptied.
	SidecarSetVersionAnnotationPrefix = "version.sidecarset.kruise.io/"
	// SidecarSetVersionAltAnnotationPrefix with the name of a hot container is the
	// version of the other one.
	SidecarSetVersionAltAnnotationPrefix = "versionalt.sidecarset.kruise.io/"

	// SidecarSetNoInjectionLabel is, on a namespace, the label with which nothing is injected into
	// its pods. No webhook of Kruise hears of them, and no policy is asked.
	SidecarSetNoInjectionLabel = "control-plane"

	// SidecarSetNameLabel is, on a ControllerRevision, the SidecarSet that it is of.
	SidecarSetNameLabel = "kruise.io/sidecarset-name"
	// SidecarSetCustomVersionLabel is the version that users gave to a SidecarSet, and
	// to its latest revision.
	SidecarSetCustomVersionLabel = "apps.kruise.io/sidecarset-custom-version"
)

// Environment variables of injected containers.
const (
	// SidecarInjectedEnv is "true" in every container that was injected.
	SidecarInjectedEnv = "IS_INJECTED"
	// SidecarSetVersionEnv and SidecarSetVersionAltEnv are the version of a hot container
	// and of the other one, from the annotations of the pod.
	SidecarSetVersionEnv    = "SIDECARSET_VERSION"
	SidecarSetVersionAltEnv = "SIDECARSET_VERSION_ALT"
)

// SidecarSetUpgradeRecord says, on a pod, what a SidecarSet made of it last.
type SidecarSetUpgradeRecord struct {
	// UpdateTimestamp is when the pod was injected or updated.
	UpdateTimestamp metav1.Time `json:"updateTimestamp"`
	// SidecarSetHash is the hash of the SidecarSet's containers then.
	SidecarSetHash string `json:"hash"`
	// SidecarSetName is the name of the SidecarSet.
	SidecarSetName string `json:"sidecarSetName"`
	// SidecarList names the containers of the SidecarSet, sorted: a hot one once.
	SidecarList []string `json:"sidecarList,omitempty"`
	// SidecarSetControllerRevision is the revision that was the latest one then, or that
	// was asked for. Only in SidecarSetHashAnnotation.
	SidecarSetControllerRevision string `json:"controllerRevision,omitempty"`
}

// SidecarSetInPlaceUpdateState says, on a pod, how the images were before a SidecarSet
// updated them.
type SidecarSetInPlaceUpdateState struct {
	// Revision is the hash of the first update.
	Revision string `json:"revision"`
	// UpdateTimestamp is when the first update began.
	UpdateTimestamp metav1.Time `json:"updateTimestamp"`
	// LastContainerStatuses holds the statuses of updated containers, as they were
	// before, by name.
	LastContainerStatuses map[string]inplacev1alpha1.ContainerStatus `json:"lastContainerStatuses"`
	// LastContainers holds, by name, what else tells an updated container from the one
	// before. OpenKruise does not write it, and ignores it.
	LastContainers map[string]inplacev1alpha1.LastContainer `json:"lastContainers,omitempty"`
	// NotReadySince is since when the pod had not been ready as its last update began: the lastTransitionTime
	// of that condition. Nil: it was ready. OpenKruise does not write it, and ignores it.
	NotReadySince *metav1.Time `json:"notReadySince,omitempty"`
}

// SidecarSetUpgradable is the condition of a pod that says whether SidecarSets can update it in place. Its message is a JSON object of
// true and false by the name of the SidecarSet. OpenKruise has it since 1.5.
const SidecarSetUpgradable corev1.PodConditionType = "SidecarSetUpgradable"

// The reasons of SidecarSetUpgradable.
const (
	// AllSidecarSetUpgradableReason: all that say something can. The condition is True.
	AllSidecarSetUpgradableReason = "AllSidecarsetUpgradable"
	// UpdateImmutableFieldReason: of one at least more than images has changed. The condition is False.
	UpdateImmutableFieldReason = "UpdateImmutableField"
)

// The reasons of events about pods whose hot containers are emptied after an update.
const (
	SidecarSetEventResetSucceeded = "ResetContainerSucceed"
	SidecarSetEventResetFailed    = "ResetContainerFailed"
)
