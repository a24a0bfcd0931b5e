// SPDX-License-Identifier: Apache-2.0

// Package probes holds what the controllers of PodProbeMarkers and of NodePodProbes both decide by: which pods a marker
// has probed, and whose a probe in a NodePodProbe is. It needs API types alone.
package probes
