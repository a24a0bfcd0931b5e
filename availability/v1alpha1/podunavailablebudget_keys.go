// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Labels and annotations around PodUnavailableBudgets.
const (
	// RelatedPubAnnotation is, on a pod, the name of the PodUnavailableBudget of its
	// namespace that protects it. The first one stays, as long as that is there and about the pod.
	RelatedPubAnnotation = "kruise.io/related-pub"
	// PodPubNoProtectionAnnotation is "true" on a pod that no budget protects.
	PodPubNoProtectionAnnotation = "pub.kruise.io/no-protect"
	// PubProtectOperationAnnotation lists, on a budget, the operations that it protects
	// from, divided by commas. Absent or empty: all of them but PubResizeOperation.
	PubProtectOperationAnnotation = "kruise.io/pub-protect-operations"
	// PubProtectTotalReplicasAnnotation is, on a budget with a selector, the number of pods that
	// there should be, if no workload of the selected pods tells. As OpenKruise 1.9 has it, it is that of any
	// budget, whatever the workloads want.
	PubProtectTotalReplicasAnnotation = "pub.kruise.io/protect-total-replicas"
	// PodDisruptionBudgetAnnotation is "true" on a budget that a PodDisruptionBudget is to show to
	// autoscalers. OpenKruise does not know it.
	PodDisruptionBudgetAnnotation = "availability.podwright.io/pod-disruption-budget"
	// UnavailablePodLabelPrefix begins the key of a label that makes a pod count as
	// unavailable, whatever its value.
	UnavailablePodLabelPrefix = "unavailable-pod.kruise.io/"
)

// PubOperation is an operation on a pod that a PodUnavailableBudget protects from.
type PubOperation string

// The operations.
const (
	// PubUpdateOperation changes the spec of a pod, or gives it a label that makes it
	// count as unavailable.
	PubUpdateOperation PubOperation = "UPDATE"
	// PubDeleteOperation deletes a pod.
	PubDeleteOperation PubOperation = "DELETE"
	// PubEvictOperation evicts a pod.
	PubEvictOperation PubOperation = "EVICT"
	// PubResizeOperation changes cpu and memory of running containers, and restarts none.
	PubResizeOperation PubOperation = "RESIZE"
)

// Conditions of a PodUnavailableBudget. They are there while they hold, as True.
const (
	// TotalUnknownCondition: it is not known how many pods some workloads want. No available pod may be
	// disrupted.
	TotalUnknownCondition = "TotalUnknown"
	// PodsElsewhereCondition: pods that the budget is about belong to another one, and do not count.
	PodsElsewhereCondition = "PodsElsewhere"
	// HeldUpCondition: something has held the budget up for a minute. The message begins with the object.
	HeldUpCondition = "HeldUp"
)

// Reasons of the conditions above.
const (
	// WorkloadNotReadReason: the workload is not read, it has no scale subresource, or it could not be read.
	WorkloadNotReadReason = "WorkloadNotRead"
	// AnotherBudgetReason: the pods name another budget.
	AnotherBudgetReason = "AnotherBudget"
)

// Events about PodUnavailableBudgets and their pods.
const (
	// PubEventSource is the component that reports the events.
	PubEventSource = "podunavailablebudget-controller"
	// NoPodsEvent is the reason of a Normal event about a budget that selects no pods.
	NoPodsEvent = "NoPods"
	// NoPodsMessage is its message.
	NoPodsMessage = "No matching pods found"
	// CalculateExpectedPodCountFailedEvent is the reason of a Warning about a budget
	// whose workloads cannot be read.
	CalculateExpectedPodCountFailedEvent = "CalculateExpectedPodCountFailed"
	// CalculateExpectedPodCountFailedFormat is its message; it takes the error.
	CalculateExpectedPodCountFailedFormat = "Failed to calculate the number of expected pods: %v"
	// NotDeletedEvent is the reason of a Warning about a pod whose deletion or eviction
	// was allowed and has not come.
	NotDeletedEvent = "NotDeleted"
	// NotDeletedFormat is its message; it takes the namespace and name of the budget.
	NotDeletedFormat = "Pod was expected by PUB %s/%s to be deleted but it wasn't"
	// PubDenialEventSource is the component that reports PreventPodDeletionEvent.
	PubDenialEventSource = "pub-controller"
	// PreventPodDeletionEvent is the reason of a Warning about a pod that its budget protects from a deletion, an eviction,
	// an update or a resize.
	PreventPodDeletionEvent = "PubPreventPodDeletion"
	// PreventPodDeletionMessage is its message.
	PreventPodDeletionMessage = "openkruise pub prevents pod deletion"
)
