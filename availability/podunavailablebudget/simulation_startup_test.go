// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationOfStartupProbes plays histories of budgets whose pods have startup probes. When a kubelet restarts a container, it says
// that the container has started, until it has probed it. Some of the pods have no readiness gate, so that nothing else tells. (PUB-45,
// IP-45)
func TestSimulationOfStartupProbes(t *testing.T) {
	simulation.Check(t, starting(&bug{}))
}

// A mirror renames the images of pods, also at updates, and nothing looks as if it came back. (IP-40, IP-45)
func TestSimulationOfStartupProbesWithMirror(t *testing.T) {
	w := starting(&bug{})
	w.OnlyMirrored = true
	simulation.Check(t, w)
}

// TestSimulationFindsBugsOfStartupProbes has the word of kubelets count at once, which a few seeds must find. (PUB-45)
func TestSimulationFindsBugsOfStartupProbes(t *testing.T) {
	believes := inSnapshot(func(s *Snapshot) { s.Pods = simulation.Believing(s.Pods) })
	simulation.FindBugs(t, []simulation.Bug{{Name: "the kubelet is believed at once", Breaks: invariants.Status, Workload: starting(&believes)}})
}

// starting is played with pods whose containers have startup probes: those of the CloneSet, and of a workload without gates. No node
// resizes pods, since whether a container has come up that restarts for that is for its kubelet to say (IP-45).
func starting(bug *bug) *simulation.Subject {
	w := simulated(bug)
	w.StartupProbes, w.Resizes, w.Rewritten, w.Others = true, false, false, actWithoutGate // who knows the images that it gives
	w.Beside = []*simulation.Subject{simulation.Starting(cloneSetBeside(bug), `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","partition":0,"paused":false}}}`)}
	return w
}
