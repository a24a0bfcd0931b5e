// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Annotations around WorkloadSpreads. The cost of deleting a pod is in the annotation
// controller.kubernetes.io/pod-deletion-cost of Kubernetes.
const (
	// MatchedWorkloadSpreadAnnotation is, on a pod, the subset that it belongs to: a
	// MatchedWorkloadSpread in JSON.
	MatchedWorkloadSpreadAnnotation = "apps.kruise.io/matched-workloadspread"
	// IgnorePatchExistingPodsAnnotation is "true", in any case, on a WorkloadSpread that
	// leaves labels and annotations of the pods alone which were there before it.
	IgnorePatchExistingPodsAnnotation = "workloadspread.kruise.io/ignore-patch-existing-pods-metadata"
)

// MatchedWorkloadSpread is what MatchedWorkloadSpreadAnnotation holds. The names of its
// members are read in any case.
type MatchedWorkloadSpread struct {
	// Name is the name of the WorkloadSpread.
	Name string `json:"name"`
	// Subset is the name of the subset.
	Subset string `json:"subset"`
	// UID tells the pods of a workload apart that had no name yet when they were assigned.
	UID string `json:"uid,omitempty"`
}

// FakeSubsetName stands for the pods that belong to no subset.
const FakeSubsetName = "kruise.io/workloadspread-fake-subset-name"

// WorkloadSpreadWhitelistKey is a key of the ConfigMap kruise-configuration in the namespace of the
// manager. It holds a list of further kinds of workloads that are spread, as JSON:
// {"workloads":[{"Group":"g","Version":"v","Kind":"K","subResources":[{"Group":"g","Version":"v","Kind":"S"}],"replicasPath":"spec.replicas"}]}.
const WorkloadSpreadWhitelistKey = "WorkloadSpread_Watch_Custom_Workload_WhiteList"

// Events about WorkloadSpreads.
const (
	// WorkloadSpreadEventSource is the component that reports the events.
	WorkloadSpreadEventSource = "workloadspread-controller"
	// TargetReferenceErrorEvent is the reason of a Warning about a targetRef that names no
	// workload of a kind that is spread.
	TargetReferenceErrorEvent = "TargetReferenceError"
	// TargetReferenceErrorMessage is its message.
	TargetReferenceErrorMessage = "targetReference is not been recognized"
	// DeletePodFailedEvent is the reason of a Warning about a pod that cannot be deleted.
	DeletePodFailedEvent = "DeletePodFailed"
	// DeletePodFailedFormat is its message; it takes namespace and name of the pod, the name of the
	// subset, and namespace and name of the WorkloadSpread.
	DeletePodFailedFormat = "Failed to delete unschedulabe Pod %s/%s in Subset %s of WorkloadSpread %s/%s"
	// PatchPodDeletionCostFailedEvent is the reason of a Warning about a pod whose cost of
	// deletion cannot be written.
	PatchPodDeletionCostFailedEvent = "PatchPodDeletionCostFailed"
	// PatchPodDeletionCostFailedFormat is its message. It takes namespace and name of the
	// WorkloadSpread, the cost, namespace and name of the pod, and the name of the subset.
	PatchPodDeletionCostFailedFormat = "WorkloadSpread %s/%s failed to patch deletion-cost annotation to %s for Pod %s/%s in subset %s"
	// RecoverSchedulableEvent is the reason of a Normal event about a subset that pods are
	// sent to again.
	RecoverSchedulableEvent = "RecoverSchedulable"
	// RecoverSchedulableFormat is its message; it takes the names of the subset, and
	// namespace and name of the WorkloadSpread.
	RecoverSchedulableFormat = "Subset %s of WorkloadSpread %s/%s is recovered from unschedulable to schedulable"
	// ReschedulePodEvent is the reason of a Normal event about a pod that is deleted so
	// that its workload creates it in another subset. OpenKruise 1.4 does not report it.
	ReschedulePodEvent = "ReschedulePod"
)
