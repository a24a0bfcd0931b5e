// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"fmt"
)

// How large what a marker asks for may be, in bytes of its JSON. Every pod that is selected has it in the NodePodProbe of
// its node. All tenants share that, and the API server stores up to 1.5 MB of it.
const (
	// MaxProbeBytes is the limit of a probe.
	MaxProbeBytes = 4 << 10
	// MaxMarkerBytes is that of the probes of a marker.
	MaxMarkerBytes = 16 << 10
	// MaxProbeMessage is that of the message of a state, which has what a command prints.
	MaxProbeMessage = 1 << 10
)

// ProbeSizes returns how large the probes of a marker are in a NodePodProbe, in bytes, and why one is too large to be run. The
// reason is empty if it is not. The probes that stand first count first.
func (m *PodProbeMarker) ProbeSizes() (sizes []int, tooLarge []string) {
	sizes, tooLarge = make([]int, len(m.Spec.Probes)), make([]string, len(m.Spec.Probes))
	left := MaxMarkerBytes
	for i := range m.Spec.Probes {
		probe := &m.Spec.Probes[i]
		data, err := json.Marshal(ContainerProbe{Name: ProbeName(m.Name, probe.Name), ContainerName: probe.ContainerName, Probe: probe.Probe, HideOutput: probe.HideOutput})
		sizes[i] = len(data)
		switch {
		case err != nil: // a port is neither a number nor a name
			tooLarge[i] = "it cannot be written: " + err.Error()
		case sizes[i] > MaxProbeBytes:
			tooLarge[i] = fmt.Sprintf("it has %d bytes, and a probe may have %d: put what it runs into the image or a volume", sizes[i], MaxProbeBytes)
		case sizes[i] > left:
			tooLarge[i] = fmt.Sprintf("with it the probes of the marker have more than %d bytes", MaxMarkerBytes)
		default:
			left -= sizes[i]
		}
	}
	return sizes, tooLarge
}
