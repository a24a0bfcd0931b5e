// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulation has users change a BroadcastJob at random, and nodes come and go, amid everything that can go wrong. It judges
// each write of the controller.
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
	editing.Check(t, editing.Subject[v1alpha1.BroadcastJob]{Create: ValidateCreate, Update: ValidateUpdate}, simulated(bug{}))
}

// simulated is what a simulation needs to know of BroadcastJobs, whose controllers have a bug.
func simulated(bug bug) *simulation.Subject {
	return &simulation.Subject{
		Resource:    jobResource,
		Empty:       func() simulation.Object { return &v1alpha1.BroadcastJob{} },
		Nodes:       5,
		Injected:    true,
		PodsEnd:     true,
		KubeletsDie: true,
		Create:      anyJob,
		Start:       planted.Start(tested, bug, simulatedOptions),
		Act:         bug.Act(act),
		Rare:        simulation.Rarely(simulation.Pick(`{"spec":{"failurePolicy":{"restartLimit":%v}}}`, 0, 1, 2, 3)),
		Push: func(u *simulation.User) {
			u.Edit(`{"spec":{"parallelism":3,"paused":false,"template":{"spec":{"containers":[{"name":"main","image":"busybox:9"}]}}}}`)
			u.Edit(`{"spec":{"failurePolicy":{"type":"Continue"}}}`)
		},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: (&invariants.JobMoves{}).BroadcastJob, Settled: invariants.BroadcastJobSettled}
		},
	}
}

func simulatedOptions(p *simulation.Process) (o Options, err error) {
	o = Options{
		BroadcastJobs: p.Informer("broadcastjobs"), Pods: p.Informer("pods"), Nodes: p.Informer("nodes"),
		Features: Features{AssignDirectly: p.Seed%4 == 1},
	}
	if o.Kubernetes, err = p.Kubernetes(); err != nil {
		return o, err
	}
	if o.Workloads, err = client.NewForConfig(p.Config); err != nil {
		return o, err
	}
	o.Reader = readers.Noting{Reader: controller.Caches(o.reads()), Resource: resourceBroadcastJobs, Note: p.Observe}
	return o, nil
}

// anyJob is a BroadcastJob of a seed.
func anyJob(r *rand.Rand) simulation.Object {
	job := testJob("web")
	for _, edit := range []simulation.Edit{policyEdit, completionEdit} {
		simulation.Merge(job, edit(r))
	}
	if r.IntN(3) == 0 {
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}
	for range r.IntN(4) {
		simulation.Merge(job, simulation.AnyEdit(r, edits))
	}
	return job
}

var (
	policyEdit = simulation.Pick(`{"spec":{"failurePolicy":{"type":"%v","restartLimit":1}}}`, "Continue", "Continue", "FailFast", "Pause")

	completionEdit = simulation.Pick(`{"spec":{"completionPolicy":%v}}`, `{"type":"Always","activeDeadlineSeconds":null,"ttlSecondsAfterFinished":null}`,
		`{"type":"Always","activeDeadlineSeconds":null,"ttlSecondsAfterFinished":null}`, `{"type":"Always","activeDeadlineSeconds":60,"ttlSecondsAfterFinished":null}`,
		`{"type":"Always","activeDeadlineSeconds":300,"ttlSecondsAfterFinished":30}`, `{"type":"Always","activeDeadlineSeconds":null,"ttlSecondsAfterFinished":90}`,
		`{"type":"Never","activeDeadlineSeconds":null,"ttlSecondsAfterFinished":null}`, `{"type":"Never","activeDeadlineSeconds":null,"ttlSecondsAfterFinished":null}`)
)

// edits are what users change about a BroadcastJob.
var edits = append(simulation.ReadEdits("edits"), policyEdit, completionEdit)

// act is what users do in a step.
func act(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(12); {
	case n < 5 || pod == nil:
		u.Edit(simulation.AnyEdit(r, edits))
	case n < 8:
		u.DeletePod(pod.Name, nil)
	case n == 8:
		u.DeletePod(pod.Name, new(int64))
	case n == 9: // it is taken out of the job, or comes back
		name := "null"
		if pod.Labels[v1alpha1.BroadcastJobNameLabel] == "" {
			name = `"web"`
		}
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, v1alpha1.BroadcastJobNameLabel, name))
	case n == 10:
		u.Disown(pod)
	default:
		u.TakeName(pod)
	}
}

// TestSimulationOfMany is TestSimulation with 24 nodes, which users relabel all at once. (BJ-32)
func TestSimulationOfMany(t *testing.T) {
	simulation.Check(t, many(bug{}))
}

// TestSimulationFindsBugsOfMany plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfMany(t *testing.T) {
	plant := simulation.Plant(t, many)
	plant("what was deleted before does not count", invariants.Availability, 0, misreading(func(s *Snapshot) { s.Deleted = nil }))
}

// many is played with many nodes.
func many(b bug) *simulation.Subject {
	w := simulated(b)
	w.Nodes = 24
	create := w.Create
	w.Create = func(r *rand.Rand) simulation.Object {
		job := create(r)
		simulation.Merge(job, `{"spec":{"parallelism":null,"paused":false,"completionPolicy":{"type":"Never"},"failurePolicy":{"type":"Continue"},"template":{"spec":{"nodeSelector":{"zone":"a"},"tolerations":[{"operator":"Exists"}]}}}}`)
		return job
	}
	w.Act = b.Act(func(u *simulation.User, r *rand.Rand) {
		switch r.IntN(4) {
		case 0, 1:
			zone := []string{"a", "b"}[r.IntN(2)]
			for _, node := range u.Objects("nodes") {
				u.LabelNode(node.GetName(), map[string]any{simulation.Zone: zone})
			}
		case 2:
			u.Edit(`{"spec":{"parallelism":null,"paused":false}}`)
		default:
			act(u, r)
		}
	})
	return w
}
