// SPDX-License-Identifier: Apache-2.0

package statefulset

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
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestSimulation has users change a StatefulSet at random amid everything that
// can go wrong, and judges each write of the controller.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(bug{}), simulation.Dying(simulated(bug{})))
}

// TestSimulationReplays plays seeds twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		simulation.CheckReplay(t, simulated(bug{}), seed)
	}
	simulation.CheckReplay(t, later(bug{}), 0)
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1beta1.StatefulSet]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"selector":            `{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}`,
		"serviceName":         `{"serviceName":"other"}`,
		"podManagementPolicy": `{"podManagementPolicy":"Parallel"}`,
	}}, simulated(bug{}), later(bug{}))
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
	return simulation.Starting(simulated(bug), `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible","partition":0,"paused":false}}}}`)
}

// simulated is what a simulation needs to know of StatefulSets, whose
// controllers have a bug.
func simulated(bug bug) *simulation.Subject {
	return &simulation.Subject{
		Resource: statefulSets,
		Empty:    func() simulation.Object { return &v1beta1.StatefulSet{} },
		Create:   anySet,
		Start:    planted.Start(tested, bug, simulatedOptions(Features{})),
		Act:      bug.Act(act),
		Rare:     simulation.Rarely(rareEdits...),
		Release:  (*simulation.User).AnswerHooks,
		Push:     func(u *simulation.User) { push(u, invariants.StatefulSetFeatures{}) },
		Judge:    judgedBy(invariants.StatefulSetFeatures{}),
	}
}

// judgedBy returns the judges of controllers that have features.
func judgedBy(features invariants.StatefulSetFeatures) func(uint64) simulation.Judge {
	return func(uint64) simulation.Judge {
		past := invariants.NewPast()
		past.StatefulSets = features
		return simulation.Judge{Observe: past.Observe, Write: past.StatefulSet, Settled: past.StatefulSetSettled}
	}
}

// simulatedOptions are those of a controller that has features.
func simulatedOptions(features Features) func(*simulation.Process) (Options, error) {
	return func(p *simulation.Process) (o Options, err error) {
		o = Options{
			AdvancedStatefulSets: p.Informer("statefulsets"), Pods: p.Informer("pods"), StorageClass: p.StorageClass, Features: features,
			Claims: p.Informer("persistentvolumeclaims"), Revisions: p.Informer("controllerrevisions"),
		}
		if o.Kubernetes, err = p.Kubernetes(); err != nil {
			return o, err
		}
		if o.Workloads, err = client.NewForConfig(p.Config); err != nil {
			return o, err
		}
		o.Reader = readers.Noting{Reader: controller.Caches(o.reads()), Resource: resourceStatefulSets, Note: p.Observe}
		return o, nil
	}
}

// TestSimulationRegressions plays histories in which bugs were found: the seed
// tells which, and in some of them users do often what shows the bug.
func TestSimulationRegressions(t *testing.T) {
	simulation.Replay(t, []simulation.Regression{
		{Found: "a claim that goes with a former set of the same name is used", Seed: 59, Workload: simulated(bug{})},
		{Found: "a pod prepared for its update and taken back in turns, without end", Seed: 12, Workload: simulated(bug{Often: edit("holdUpdates")})},
		{Found: "a pod that serves is taken while another is down elsewhere", Seed: 0, Workload: simulated(bug{Often: edit("editAmid")})},
		{Found: "the same, for a hook", Seed: 7, Workload: simulated(bug{Often: edit("editAmid")})},
		{Found: "an update in place gives all pods one identity", Seed: 1, Workload: simulated(bug{Often: edit("nameInTemplate")})},
		{Found: "a claim that fails on its way to a former size holds up the pods beside it", Seed: 7229, Workload: growing(bug{})},
		{Found: "a second manager has a claim ask for less than the first", Seed: 6504, Workload: growing(bug{})},
	})
}

// edit has users make the edits of a list in testdata/users.txt.
func edit(list string) func(*simulation.User, *rand.Rand) {
	edits := simulation.ReadEdits(list)
	return func(u *simulation.User, r *rand.Rand) { u.Edit(simulation.AnyEdit(r, edits)) }
}
