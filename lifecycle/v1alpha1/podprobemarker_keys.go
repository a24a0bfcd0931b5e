// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// PodProbeMarkerFinalizer keeps a PodProbeMarker until no NodePodProbe has probes of it.
	PodProbeMarkerFinalizer = "kruise.io/node-pod-probe-cleanup"

	// ProbeSucceededEvent and ProbeFailedEvent are the reasons of the events about a pod whose probe has
	// come to another state. ProbeAgentEventSource is the component that records them.
	ProbeSucceededEvent   = "KruiseProbeSucceeded"
	ProbeFailedEvent      = "KruiseProbeFailed"
	ProbeAgentEventSource = "kruise-daemon-podprobe"

	// PodProbesAnnotation has the probes of a new pod for what runs the pods of virtual nodes: a JSON list of
	// PodContainerProbes without markerPolicy. What runs the pod writes each result as the condition of the type.
	// PodProbeMarkersAnnotation names the PodProbeMarkers that the pod has them of, sorted and with commas. A pod that comes
	// with it has the probes of those markers. (PPM-1.7)
	PodProbesAnnotation       = "kruise.io/podprobe"
	PodProbeMarkersAnnotation = "kruise.io/podprobemarker-list"
)

// MarkersOf lists the PodProbeMarkers that an annotation of a pod names: none for a pod without PodProbeMarkersAnnotation. (PPM-1.7)
func MarkersOf(pod *corev1.Pod) (names []string) {
	for name := range strings.SplitSeq(pod.Annotations[PodProbeMarkersAnnotation], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// ProbeName is the name that a probe of a PodProbeMarker has in a NodePodProbe.
func ProbeName(marker, probe string) string { return marker + "#" + probe }

// SplitProbeName splits the name of a probe in a NodePodProbe into that of the PodProbeMarker and that of its probe. It is
// not ok for a name that no PodProbeMarker gives.
func SplitProbeName(name string) (marker, probe string, ok bool) {
	marker, probe, ok = strings.Cut(name, "#")
	return marker, probe, ok && marker != "" && probe != ""
}
