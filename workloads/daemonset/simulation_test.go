// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"math/rand/v2"
	"testing"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulation has users change a DaemonSet at random, and nodes come and go, amid everything that can go wrong. It judges each
// write of the controller.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(bug{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	simulation.CheckReplay(t, simulated(bug{}), 1)
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.DaemonSet]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"lifecycle.inPlaceUpdate": `{"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"a":"b"}}}}`,
	}}, simulated(bug{}))
}

// TestSimulationOfStartupProbes plays histories of pods with startup probes, with kubelets that say of a container that they
// restart that it has started, until they ask. (IP-45)
func TestSimulationOfStartupProbes(t *testing.T) {
	simulation.Check(t, starting(bug{}))
}

// TestSimulationFindsBugsOfStartupProbes has the word of kubelets count at once, which a few seeds must find.
func TestSimulationFindsBugsOfStartupProbes(t *testing.T) {
	plant := simulation.Plant(t, starting)
	plant("the kubelet is believed at once", invariants.InPlace, 0, misreading(func(s *Snapshot) { s.Pods = simulation.Believing(s.Pods) }))
}

// starting is played with pods whose containers have startup probes.
func starting(bug bug) *simulation.Subject {
	return simulation.Starting(simulated(bug), `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"rollingUpdateType":"InPlaceIfPossible","partition":0,"paused":false}}}}`)
}

// simulated is what a simulation needs to know of DaemonSets, whose controllers have a bug.
func simulated(bug bug) *simulation.Subject {
	return &simulation.Subject{
		Resource:    setResource,
		Empty:       func() simulation.Object { return &v1alpha1.DaemonSet{} },
		Nodes:       4,
		Injected:    true,
		KubeletsDie: true,
		Create:      anySet,
		Start:       planted.Start(tested, bug, simulatedOptions),
		Act:         bug.Act(act),
		Rare:        simulation.Rarely(simulation.RareHooks[0], simulation.RareHooks[2]),
		Release:     (*simulation.User).AnswerHooks,
		Push:        push,
		Judge: func(seed uint64) simulation.Judge {
			past := invariants.NewPast()
			past.PartitionRoundsDown = roundsDown(seed)
			return simulation.Judge{Observe: past.Observe, Write: past.DaemonSet, Settled: past.DaemonSetSettled}
		},
	}
}

// roundsDown tells whether controllers of a seed do as those of OpenKruise 1.9.
func roundsDown(seed uint64) bool { return seed%3 == 2 }

func simulatedOptions(p *simulation.Process) (o Options, err error) {
	o = Options{
		DaemonSets: p.Informer("daemonsets"), Pods: p.Informer("pods"), Revisions: p.Informer("controllerrevisions"), Nodes: p.Informer("nodes"),
		Features: Features{AssignDirectly: p.Seed%4 == 1, PartitionRoundsDown: roundsDown(p.Seed)},
	}
	if o.Kubernetes, err = p.Kubernetes(); err != nil {
		return o, err
	}
	if o.Workloads, err = client.NewForConfig(p.Config); err != nil {
		return o, err
	}
	o.Reader = readers.Noting{Reader: controller.Caches(o.reads()), Resource: resourceDaemonSets, Note: p.Observe}
	return o, nil
}

// anySet is a DaemonSet of a seed.
func anySet(r *rand.Rand) simulation.Object {
	set := testSet("web")
	set.Spec.Template.Labels = simulation.PodLabels(r)
	simulation.Merge(set, typeEdit(r))
	for _, hook := range simulation.Hooks[:1] {
		if r.IntN(4) == 0 {
			simulation.Merge(set, hook(r))
		}
	}
	for range r.IntN(6) {
		simulation.Merge(set, simulation.AnyEdit(r, edits))
	}
	return set
}
