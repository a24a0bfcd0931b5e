// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "strings"

const (
	// PodProbeMarkerFinalizer keeps a PodProbeMarker until no NodePodProbe has probes of it.
	PodProbeMarkerFinalizer = "kruise.io/node-pod-probe-cleanup"

	// ProbeSucceededEvent and ProbeFailedEvent are the reasons of the events about a pod whose probe has
	// come to another state. ProbeAgentEventSource is the component that records them.
	ProbeSucceededEvent   = "KruiseProbeSucceeded"
	ProbeFailedEvent      = "KruiseProbeFailed"
	ProbeAgentEventSource = "kruise-daemon-podprobe"
)

// ProbeName is the name that a probe of a PodProbeMarker has in a NodePodProbe.
func ProbeName(marker, probe string) string { return marker + "#" + probe }

// SplitProbeName splits the name of a probe in a NodePodProbe into that of the PodProbeMarker and that of its probe. It is
// not ok for a name that no PodProbeMarker gives.
func SplitProbeName(name string) (marker, probe string, ok bool) {
	marker, probe, ok = strings.Cut(name, "#")
	return marker, probe, ok && marker != "" && probe != ""
}
