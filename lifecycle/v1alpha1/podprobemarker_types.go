// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodProbeMarkerSpec says which pods to probe, how, and what to write on them.
type PodProbeMarkerSpec struct {
	// Selector selects pods of the namespace of the marker. It must not be empty, and never changes.
	Selector *metav1.LabelSelector `json:"selector"`

	// Probes are the probes, at least one.
	Probes []PodContainerProbe `json:"probes"`
}

// PodContainerProbe is a probe of one container of every pod that is selected.
type PodContainerProbe struct {
	// Name is the name of the probe, unique in the marker. It must not be that of a condition that
	// the kubelet or podwright writes, such as Ready.
	Name string `json:"name"`

	// ContainerName is the name of the container to probe. Nothing becomes known of pods without it.
	ContainerName string `json:"containerName"`

	// Probe says how and how often. The handler is one of exec, httpGet and tcpSocket, the latter two
	// without host: it is the pod that is probed. Nothing is defaulted in the object; 0 stands
	// for 1 in timeoutSeconds, periodSeconds, successThreshold, failureThreshold, and
	// initialDelaySeconds.
	Probe corev1.Probe `json:"probe"`

	// HideOutput says that what an exec probe prints is shown nowhere. The message of its condition has the agent's own words then,
	// such as an exit code. Default false: the message is what the command has printed, up to 1024 bytes, and who may read the pod
	// or the NodePodProbe reads it. It means nothing to httpGet and tcpSocket, whose messages are the agent's own words always.
	// OpenKruise does not have it.
	// +optional
	HideOutput bool `json:"hideOutput,omitempty"`

	// MarkerPolicy says which labels and annotations a pod has in which state, at most one entry a state.
	// Default: none. Either it or PodConditionType is given, or both.
	// +optional
	MarkerPolicy []ProbeMarkerPolicy `json:"markerPolicy,omitempty"`

	// PodConditionType is the type of the condition of the pod that tells the state. It is unique
	// in the marker. The condition is True for Succeeded, False for Failed, Unknown for Unknown.
	// Default: no condition.
	// +optional
	PodConditionType string `json:"podConditionType,omitempty"`
}

// ProbeMarkerPolicy says which labels and annotations a pod has in a state.
type ProbeMarkerPolicy struct {
	// State is Succeeded or Failed.
	State ProbeState `json:"state"`

	// Labels are set on the pod in that state, and removed from it in the opposite one, unless they stand
	// there too. Either they or Annotations are given, or both.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations are set and removed like Labels.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ProbeState is what a probe has found out.
type ProbeState string

const (
	// ProbeSucceeded is the state of a probe that has succeeded as often as successThreshold asks.
	ProbeSucceeded ProbeState = "Succeeded"
	// ProbeFailed is the state of a probe that has failed as often as failureThreshold asks, and of
	// one whose container has ended.
	ProbeFailed ProbeState = "Failed"
	// ProbeUnknown is the state of a probe that has said nothing yet about the container that runs.
	ProbeUnknown ProbeState = "Unknown"
)

// PodProbeMarkerStatus says how many pods a marker selects.
type PodProbeMarkerStatus struct {
	// ObservedGeneration is the generation of the marker that the status is about.
	ObservedGeneration int64 `json:"observedGeneration"`

	// MatchedPods is the number of pods that are selected, run on a node and are initialized.
	// +optional
	MatchedPods int64 `json:"matchedPods,omitempty"`

	// Conditions are HeldUp, which says what has held the marker up for a minute: it is True or absent. OpenKruise does not know the
	// field.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PodProbeMarker has containers of pods probed, beside the probes of the kubelet, and writes what comes out on the pods.
// It does so as a condition, as labels and as annotations.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a PodProbeMarker needs a spec with selector and probes"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || has(self.spec.selector.matchLabels) && size(self.spec.selector.matchLabels) > 0 || has(self.spec.selector.matchExpressions) && size(self.spec.selector.matchExpressions) > 0`,reason=FieldValueRequired,message="must not be empty: it would select every pod of the namespace"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector.matchExpressions",rule=`!has(self.spec) || !has(self.spec.selector.matchExpressions) || self.spec.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))`,message="every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
// +kubebuilder:validation:XValidation:fieldPath=".spec.selector",rule=`!has(self.spec) || !has(oldSelf.spec) || self.spec.selector == oldSelf.spec.selector`,reason=FieldValueForbidden,message="cannot be changed: create another PodProbeMarker"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || size(self.spec.probes) > 0`,reason=FieldValueRequired,message="there must be at least one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, size(p.name) > 0 && size(p.containerName) > 0)`,reason=FieldValueRequired,message="every probe needs a name and a containerName"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, !(p.name in ['PodScheduled', 'Initialized', 'Ready', 'ContainersReady', 'KruisePodReady', 'InPlaceUpdateReady']))`,message="no probe may have the name of a condition that Kubernetes or podwright writes"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, !has(p.probe.grpc) && (has(p.probe.exec) ? 1 : 0) + (has(p.probe.httpGet) ? 1 : 0) + (has(p.probe.tcpSocket) ? 1 : 0) == 1)`,message="every probe needs exactly one handler: exec, httpGet or tcpSocket"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, !has(p.probe.exec) || has(p.probe.exec.command) && size(p.probe.exec.command) > 0)`,reason=FieldValueRequired,message="exec needs a command"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, (!has(p.probe.httpGet) || !has(p.probe.httpGet.host) || size(p.probe.httpGet.host) == 0) && (!has(p.probe.tcpSocket) || !has(p.probe.tcpSocket.host) || size(p.probe.tcpSocket.host) == 0))`,reason=FieldValueForbidden,message="host must be absent: a probe goes to the pod"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, (!has(p.probe.initialDelaySeconds) || p.probe.initialDelaySeconds >= 0) && (!has(p.probe.timeoutSeconds) || p.probe.timeoutSeconds >= 0) && (!has(p.probe.periodSeconds) || p.probe.periodSeconds >= 0) && (!has(p.probe.successThreshold) || p.probe.successThreshold >= 0) && (!has(p.probe.failureThreshold) || p.probe.failureThreshold >= 0))`,message="seconds and thresholds must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, has(p.podConditionType) && size(p.podConditionType) > 0 || has(p.markerPolicy) && size(p.markerPolicy) > 0)`,reason=FieldValueRequired,message="every probe needs podConditionType or markerPolicy: nothing would become of its result"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, !has(p.markerPolicy) || size(p.markerPolicy) == 0 || p.markerPolicy[0].state in ['Succeeded', 'Failed'] && (size(p.markerPolicy) == 1 || p.markerPolicy[1].state == (p.markerPolicy[0].state == 'Failed' ? 'Succeeded' : 'Failed') && size(p.markerPolicy) == 2))`,message="the states of markerPolicy must be Succeeded or Failed, each once at most"
// +kubebuilder:validation:XValidation:fieldPath=".spec.probes",rule=`!has(self.spec) || self.spec.probes.all(p, !has(p.markerPolicy) || size(p.markerPolicy) == 0 || (has(p.markerPolicy[0].labels) && size(p.markerPolicy[0].labels) > 0 || has(p.markerPolicy[0].annotations) && size(p.markerPolicy[0].annotations) > 0) && (size(p.markerPolicy) == 1 || (has(p.markerPolicy[1].labels) && size(p.markerPolicy[1].labels) > 0 || has(p.markerPolicy[1].annotations) && size(p.markerPolicy[1].annotations) > 0)))`,reason=FieldValueRequired,message="every markerPolicy needs labels or annotations"
type PodProbeMarker struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec PodProbeMarkerSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status PodProbeMarkerStatus `json:"status,omitempty"`
}

// PodProbeMarkerList is a list of PodProbeMarkers.
//
// +kubebuilder:object:root=true
type PodProbeMarkerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []PodProbeMarker `json:"items"`
}
