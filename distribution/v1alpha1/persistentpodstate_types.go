// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PersistentPodStateSpec says of which pods to remember the nodes, and how much of
// that to hold their successors to.
type PersistentPodStateSpec struct {
	// TargetReference names the workload whose pods they are, in the namespace of the
	// PersistentPodState. It never changes.
	TargetReference TargetReference `json:"targetRef"`

	// PersistentPodAnnotations are annotations of the pods to remember. They are not given
	// to their successors, unless the manager is told to. Default: none.
	// +optional
	PersistentPodAnnotations []PersistentPodAnnotation `json:"persistentPodAnnotations,omitempty"`

	// RequiredPersistentTopology is the topology that a pod has to come back to. Either it or
	// PreferredPersistentTopology, or both.
	// +optional
	RequiredPersistentTopology *NodeTopologyTerm `json:"requiredPersistentTopology,omitempty"`

	// PreferredPersistentTopology are topologies that a pod comes back to if it can.
	// +optional
	PreferredPersistentTopology []PreferredTopologyTerm `json:"preferredPersistentTopology,omitempty"`

	// PersistentPodStateRetentionPolicy says how long the state of a pod is kept.
	// Default: WhenScaled. It is not written into the object.
	// +optional
	PersistentPodStateRetentionPolicy PersistentPodStateRetentionPolicy `json:"persistentPodStateRetentionPolicy,omitempty"`
}

// TargetReference names a workload.
type TargetReference struct {
	// APIVersion is the group and version of the workload. The version does not matter.
	APIVersion string `json:"apiVersion"`
	// Kind is the kind of the workload.
	Kind string `json:"kind"`
	// Name is the name of the workload.
	Name string `json:"name"`
}

// PersistentPodStateRetentionPolicy says how long the state of a pod is kept.
type PersistentPodStateRetentionPolicy string

const (
	// WhenScaled drops the state of a pod that the workload is scaled down by, once the pod is
	// gone. The default.
	WhenScaled PersistentPodStateRetentionPolicy = "WhenScaled"
	// WhenDeleted keeps the state of all pods until the workload is deleted.
	WhenDeleted PersistentPodStateRetentionPolicy = "WhenDeleted"
)

// PersistentPodAnnotation names an annotation of pods.
type PersistentPodAnnotation struct {
	// Key is the key of the annotation.
	Key string `json:"key"`
}

// PreferredTopologyTerm is a topology that a pod comes back to if it can.
type PreferredTopologyTerm struct {
	// Weight is how much it counts, from 1 to 100. More counts as 100; of a weight of 0 or
	// less nothing is made.
	Weight int32 `json:"weight"`
	// Preference is the topology.
	Preference NodeTopologyTerm `json:"preference"`
}

// NodeTopologyTerm is a topology: keys of labels of nodes.
type NodeTopologyTerm struct {
	// NodeTopologyKeys are the keys.
	NodeTopologyKeys []string `json:"nodeTopologyKeys"`
}

// PersistentPodStateStatus is on which nodes the pods ran last.
type PersistentPodStateStatus struct {
	// ObservedGeneration is the generation that the status is about.
	ObservedGeneration int64 `json:"observedGeneration"`

	// WorkloadUID is the UID of the workload whose pods the states are about: another one of its name inherits none.
	// OpenKruise 1.4 does not know the field; states without it are those of whatever workload there is.
	// +optional
	WorkloadUID types.UID `json:"workloadUID,omitempty"`

	// PodStates is on which node each pod ran when it was last seen ready, by the name of the pod.
	// +optional
	PodStates map[string]PodState `json:"podStates,omitempty"`

	// Pods is how many pods PodStates is about. OpenKruise 1.4 does not know the field.
	// +optional
	Pods int32 `json:"pods"`

	// Lost is how many of them have run in a required topology that no node is in any more.
	// OpenKruise 1.4 does not know the field.
	// +optional
	Lost int32 `json:"lost"`

	// Conditions are TopologyLost and StateTooLarge. OpenKruise 1.4 does not know the field.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PodState is on which node a pod ran when it was last seen ready.
type PodState struct {
	// NodeName is the node.
	// +optional
	NodeName string `json:"nodeName,omitempty"`

	// NodeTopologyLabels are those of the topology keys that the node had as labels.
	// +optional
	NodeTopologyLabels map[string]string `json:"nodeTopologyLabels,omitempty"`

	// Annotations are those of persistentPodAnnotations that the pod had.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PersistentPodState remembers on which nodes the pods of a StatefulSet ran, and has
// their successors go there again.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a PersistentPodState needs a spec with targetRef, and requiredPersistentTopology or preferredPersistentTopology"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetRef",rule=`!has(self.spec) || size(self.spec.targetRef.apiVersion) > 0 && size(self.spec.targetRef.kind) > 0 && size(self.spec.targetRef.name) > 0`,reason=FieldValueRequired,message="needs apiVersion, kind and name"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetRef.apiVersion",rule=`!has(self.spec) || self.spec.targetRef.apiVersion.matches('^[^/]*(/[^/]*)?$')`,message="must be VERSION or GROUP/VERSION"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`!has(self.spec) || has(self.spec.requiredPersistentTopology) || has(self.spec.preferredPersistentTopology) && size(self.spec.preferredPersistentTopology) > 0`,reason=FieldValueRequired,message="give requiredPersistentTopology, preferredPersistentTopology or both"
// +kubebuilder:validation:XValidation:fieldPath=".spec.targetRef",rule=`!has(self.spec) || !has(oldSelf.spec) || self.spec.targetRef == oldSelf.spec.targetRef`,reason=FieldValueForbidden,message="cannot be modified"
type PersistentPodState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec PersistentPodStateSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status PersistentPodStateStatus `json:"status,omitempty"`
}

// PersistentPodStateList is a list of PersistentPodStates.
//
// +kubebuilder:object:root=true
type PersistentPodStateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []PersistentPodState `json:"items"`
}
