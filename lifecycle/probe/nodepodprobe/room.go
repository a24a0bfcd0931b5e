// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// How much there may be in a NodePodProbe, which the API server stores up to 1.5 MB. (PPM-3.8)
const (
	nodeBytes = 1 << 20
	// stateBytes is what a probe takes beside itself: its pod, and its state in the status. What its command prints is not in it.
	stateBytes = 512
)

// room is what a NodePodProbe has room for.
type room struct {
	// most is how much each namespace may have, used how much it has.
	most int
	used map[string]int
	// leftOut says why probes have no room, by pod and name, and markers why, with those whose probes they are.
	leftOut map[types.UID]map[string]string
	markers map[types.NamespacedName]string
}

// measure finds out once what the probes of a marker are, and what they cost.
func (m *marker) measure() {
	if m.probes != nil {
		return
	}
	costs, tooLarge := m.ProbeSizes()
	m.probes = make([]wanted, len(costs))
	for i := range costs {
		of := &m.Spec.Probes[i]
		m.probes[i] = wanted{
			marker: m.PodProbeMarker, of: of,
			probe: v1alpha1.ContainerProbe{Name: v1alpha1.ProbeName(m.Name, of.Name), ContainerName: of.ContainerName, Probe: of.Probe, HideOutput: of.HideOutput},
			cost:  costs[i] + len(m.Name) + len(of.Name) + stateCost(&of.Probe, of.HideOutput), tooLarge: tooLarge[i], // the state has the name, too
		}
	}
}

// stateCost is how much room the state of a probe takes at most.
func stateCost(probe *corev1.Probe, hidden bool) int {
	if probe.Exec == nil || hidden {
		return stateBytes
	}
	return stateBytes + v1alpha1.MaxProbeMessage
}

// measure shares the room among the namespaces that want some for their pods. One that wants less than an equal share leaves the
// rest to the others. (PPM-3.8)
func (p *planner) measure(wants map[string]int) {
	p.room = room{used: map[string]int{}, leftOut: map[types.UID]map[string]string{}, markers: map[types.NamespacedName]string{}}
	if p.Namespace != "" && p.NodePodProbe != nil { // those of others stand there
		for i := range p.NodePodProbe.Spec.PodProbes {
			entry := &p.NodePodProbe.Spec.PodProbes[i]
			if data, err := json.Marshal(entry); err == nil && entry.Namespace != p.Namespace {
				wants[entry.Namespace] += len(data)
				for j := range entry.Probes {
					wants[entry.Namespace] += stateCost(&entry.Probes[j].Probe, entry.Probes[j].HideOutput)
				}
			}
		}
	}
	p.room.most = images.Share(wants, nodeBytes)
}

// place takes room for a probe, and tells whether there was some.
func (p *planner) place(entry *v1alpha1.PodProbe, w *wanted) bool {
	reason := w.tooLarge
	if has := p.room.used[entry.Namespace]; reason == "" && has+w.cost > p.room.most {
		reason = fmt.Sprintf("the probes of a node may take %d bytes, and those of namespace %s take %d on node %s", nodeBytes, entry.Namespace, has, p.Node.Name)
		p.room.markers[types.NamespacedName{Namespace: entry.Namespace, Name: w.marker.Name}] = reason
	}
	if reason == "" {
		p.room.used[entry.Namespace] += w.cost
		return true
	}
	if p.room.leftOut[entry.UID] == nil {
		p.room.leftOut[entry.UID] = map[string]string{}
	}
	p.room.leftOut[entry.UID][w.probe.Name] = reason
	return false
}
