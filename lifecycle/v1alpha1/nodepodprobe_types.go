// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodePodProbeSpec says which pods of a node to probe.
type NodePodProbeSpec struct {
	// PodProbes are the pods with their probes, each pod once. Default: none.
	// +optional
	PodProbes []PodProbe `json:"podProbes,omitempty"`
}

// PodProbe are the probes of one pod.
type PodProbe struct {
	// Name, Namespace and UID are those of the pod.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// UID tells it from others that have had its name.
	UID types.UID `json:"uid"`

	// IP is the address of the pod, by which agents of OpenKruise probe with tcpSocket and httpGet. It follows that of the pod. Agents of
	// podwright ask the container runtime. Empty: the pod has none yet.
	// +optional
	IP string `json:"IP,omitempty"`

	// Probes are the probes, each name once.
	// +optional
	Probes []ContainerProbe `json:"probes,omitempty"`
}

// ContainerProbe is a probe of a container.
type ContainerProbe struct {
	// Name is the name of the PodProbeMarker and that of its probe, see ProbeName.
	Name string `json:"name"`

	// ContainerName is the name of the container in the pod.
	ContainerName string `json:"containerName"`

	// Probe says how and how often, as in PodContainerProbe.
	Probe corev1.Probe `json:"probe"`

	// HideOutput says that what an exec probe prints goes nowhere, as in PodContainerProbe. Agents of OpenKruise do not know it.
	// +optional
	HideOutput bool `json:"hideOutput,omitempty"`
}

// NodePodProbeStatus says what the probes of a node have found out.
type NodePodProbeStatus struct {
	// ObservedGeneration is the metadata.generation that the node agent has seen
	// when it wrote the status; 0 until it has. It is written together with
	// states; by itself if the spec changes and no state does. OpenKruise
	// does not have it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// PodProbeStatuses are the pods of which something is known.
	// +optional
	PodProbeStatuses []PodProbeStatus `json:"podProbeStatuses,omitempty"`
}

// PodProbeStatus says what the probes of a pod have found out.
type PodProbeStatus struct {
	// Name, Namespace and UID are those of the pod.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// UID tells it from others that have had its name.
	UID types.UID `json:"uid"`

	// ProbeStates are the probes of which something is known.
	// +optional
	ProbeStates []ContainerProbeState `json:"probeStates,omitempty"`
}

// ContainerProbeState is what a probe has found out.
type ContainerProbeState struct {
	// Name is that of the probe in the spec.
	Name string `json:"name"`

	// State is what the probe has found out.
	State ProbeState `json:"state"`

	// LastProbeTime is when the probe was run that State and Message are of. It does not move while they stay.
	// +optional
	LastProbeTime *metav1.Time `json:"lastProbeTime,omitempty"`

	// LastTransitionTime is since when State is what it is.
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`

	// Message is what the command has printed that State is of, up to 1024 bytes as JSON. That is its standard output if it
	// has succeeded, its standard error if it has failed. If there is none, the probe hides it, or it is no command, the
	// agent says in its own words why State has its value. It is empty then if the probe has succeeded.
	// +optional
	Message string `json:"message,omitempty"`
}

// NodePodProbe tells the agent of a node which containers to probe, and tells what comes out. It has the name of the node,
// is made when the node is ready, and is deleted with it.
//
// +genclient
// +genclient:nonNamespaced
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
type NodePodProbe struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec NodePodProbeSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status NodePodProbeStatus `json:"status,omitempty"`
}

// NodePodProbeList is a list of NodePodProbes.
//
// +kubebuilder:object:root=true
type NodePodProbeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []NodePodProbe `json:"items"`
}
