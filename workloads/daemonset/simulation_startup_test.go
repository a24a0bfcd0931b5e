// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationOfStartupProbes plays histories of pods with startup probes, with kubelets that say of a container that they
// restart that it has started, until they ask. (IP-45)
func TestSimulationOfStartupProbes(t *testing.T) {
	simulation.Check(t, starting(bug{}))
}

// TestSimulationFindsBugsOfStartupProbes has the word of kubelets count at once, which a few seeds must find.
func TestSimulationFindsBugsOfStartupProbes(t *testing.T) {
	believes := misreading(func(s *Snapshot) { s.Pods = simulation.Believing(s.Pods) })
	simulation.FindBugs(t, []simulation.Bug{{Name: "the kubelet is believed at once", Breaks: invariants.InPlace, Workload: starting(believes)}})
}

// starting is played with pods whose containers have startup probes.
func starting(bug bug) *simulation.Subject {
	return simulation.Starting(simulated(bug), `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"rollingUpdateType":"InPlaceIfPossible","partition":0,"paused":false}}}}`)
}
