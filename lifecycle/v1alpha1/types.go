// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import corev1 "k8s.io/api/core/v1"

// StateType is the value of StateLabel.
type StateType string

const (
	// StateLabel is the pod label that holds the lifecycle state.
	StateLabel = "lifecycle.apps.kruise.io/state"
	// TimestampAnnotation is the pod annotation that holds the time of the
	// last change of state, RFC 3339.
	TimestampAnnotation = "lifecycle.apps.kruise.io/timestamp"

	// StatePreparingNormal is the state of a new pod until its preNormal hook is met.
	StatePreparingNormal StateType = "PreparingNormal"
	// StateNormal is the state of a pod that may count as available.
	StateNormal StateType = "Normal"
	// StatePreparingUpdate is the state of a pod that waits for its
	// inPlaceUpdate hook to be released before it is updated in place.
	StatePreparingUpdate StateType = "PreparingUpdate"
	// StateUpdating is the state of a pod while it is updated in place.
	StateUpdating StateType = "Updating"
	// StateUpdated is the state of an updated pod until its inPlaceUpdate hook is met again.
	StateUpdated StateType = "Updated"
	// StatePreparingDelete is the state of a pod that waits for its preDelete
	// hook to be released before it is deleted.
	StatePreparingDelete StateType = "PreparingDelete"

	// KruisePodReady is the readiness gate and the pod condition by which
	// several writers take a pod out of service; its message lists them.
	KruisePodReady corev1.PodConditionType = "KruisePodReady"

	// SpecifiedDeleteLabel on a pod asks its workload to delete and replace
	// it. Its presence counts, whatever the value.
	SpecifiedDeleteLabel = "apps.kruise.io/specified-delete"

	// EvictionDeniedAnnotation on a pod says in RFC 3339 when a PodUnavailableBudget
	// denied its eviction last. It may also say when the responder of declarative
	// evictions asked for room for it. A workload that may surge makes room for it.
	EvictionDeniedAnnotation = "lifecycle.podwright.io/eviction-denied"
)

// Lifecycle lets a controller of the user's take part in what a workload does
// to its pods.
type Lifecycle struct {
	// PreDelete holds a pod back from being deleted.
	// +optional
	PreDelete *LifecycleHook `json:"preDelete,omitempty"`
	// InPlaceUpdate holds a pod back before, and keeps it unavailable after, an in-place update.
	// +optional
	InPlaceUpdate *LifecycleHook `json:"inPlaceUpdate,omitempty"`
	// PreNormal keeps a new pod unavailable until the hook is met.
	// +optional
	PreNormal *LifecycleHook `json:"preNormal,omitempty"`
}

// LifecycleHook is expressed by labels and finalizers of the pod.
type LifecycleHook struct {
	// LabelsHandler lists labels with their values.
	// +optional
	LabelsHandler map[string]string `json:"labelsHandler,omitempty"`
	// FinalizersHandler lists finalizers.
	// +optional
	FinalizersHandler []string `json:"finalizersHandler,omitempty"`
	// MarkPodNotReady takes the pod out of service while the hook holds it,
	// if the pod has the readiness gate KruisePodReady. Effective for
	// preDelete and inPlaceUpdate; default false.
	// +optional
	MarkPodNotReady bool `json:"markPodNotReady,omitempty"`
}
