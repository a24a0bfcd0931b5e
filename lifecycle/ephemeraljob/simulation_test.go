// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestSimulation has users change an EphemeralJob and its pods at random, amid everything that can go wrong, and judges
// each write of the controller. A model plays the part of kubelets that is about ephemeral containers.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(&spoil{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(&spoil{}), 1)
}

// TestRegressions plays histories in which bugs were found.
func TestRegressions(t *testing.T) {
	simulation.Replay(t, []simulation.Regression{
		{Found: "a job that had ended injected, after an answer that was an error", Seed: 1882703813150794, Workload: simulated(&spoil{})},
	})
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.EphemeralJob]{Create: problems, Update: problemsLater}, simulated(&spoil{}))
}

// problems are what the plan says is wrong with a job: there is no webhook of EphemeralJobs.
func problems(job *v1alpha1.EphemeralJob) (errs field.ErrorList) {
	job = job.DeepCopy()
	job.Status, job.DeletionTimestamp = v1alpha1.EphemeralJobStatus{}, nil
	for _, problem := range NewPlan(&Snapshot{Job: job, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}).Problems {
		errs = append(errs, field.Forbidden(field.NewPath(problem.Err.Error()), ""))
	}
	return errs
}

// problemsLater are those of a job that was changed.
func problemsLater(job, _ *v1alpha1.EphemeralJob) field.ErrorList { return problems(job) }

// simulated is what a simulation needs to know of EphemeralJobs, whose controller has a bug.
func simulated(bug *spoil) *simulation.Subject {
	return &simulation.Subject{
		Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), string(resourceEphemeralJobs)),
		Empty:    func() simulation.Object { return &v1alpha1.EphemeralJob{} },
		Create:   func(r *rand.Rand) simulation.Object { return anyJob(r) },
		Start:    planted.Start(tested, *bug, simulatedOptions),
		Refusals: []invariants.Refusal{{Verb: "patch", Resource: string(resourcePods)}},
		Patience: 20 * time.Minute, // refusals are tried again every five
		Populate: func(u *simulation.User, r *rand.Rand) {
			for i := range 1 + r.IntN(5) {
				u.CreateStranger(fmt.Sprint("p", i))
			}
		},
		Others: func(u *simulation.User, r *rand.Rand) {
			if pod := u.AnyPod(r); pod != nil {
				runEphemeral(u, pod, nextStates[r.IntN(len(nextStates))])
			}
		},
		Release: func(u *simulation.User) {
			for _, pod := range u.Pods() {
				runEphemeral(u, pod, inTheEnd[pod.Name[len(pod.Name)-1]%byte(len(inTheEnd))])
			}
		},
		Act:     bug.Act(act),
		Rare:    simulation.Rarely(rareEdits...),
		Push:    push,
		Ignores: []string{string(caches.Claims), string(caches.Revisions)},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: (&invariants.EphemeralJobs{}).Write, Settled: invariants.EphemeralJobSettled}
		},
	}
}

func simulatedOptions(p *simulation.Process) (o Options, err error) {
	o.Reader = planted.Read(p, resourceEphemeralJobs, resourcePods)
	if o.Kubernetes, err = p.Kubernetes(); err == nil {
		o.Lifecycle, err = client.NewForConfig(p.Config)
	}
	return o, err
}

// nextStates are those of ephemeral containers, as kubelets report them: see stateNamed.
var nextStates = []string{"waiting", "unstartable", "running", "exit1", "exit0", "running"}

// inTheEnd is what becomes of ephemeral containers when users do nothing more. Some never end, as on a dead node, and no job may wait for
// them before it has injected into all pods that it can.
var inTheEnd = []string{"exit0", "exit1", "", "waiting"}

// runEphemeral has the ephemeral containers of a pod go on that have not ended.
func runEphemeral(u *simulation.User, pod *corev1.Pod, state string) {
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return
	}
	if next := pod.DeepCopy(); goOn(next, func(*corev1.ContainerStatus) string { return state }) {
		u.UpdatePod("runs ephemeral containers", next)
	}
}

// anyJob is the EphemeralJob of a seed.
func anyJob(r *rand.Rand) *v1alpha1.EphemeralJob {
	job := newJob()
	job.ObjectMeta = metav1.ObjectMeta{}
	for range r.IntN(4) {
		simulation.Merge(job, simulation.AnyEdit(r, jobEdits))
	}
	return job
}

// jobEdits are what users change about an EphemeralJob. The names of its containers stay.
var jobEdits = append(simulation.ReadEdits("jobEdits"),
	simulation.Pick(`{"metadata":{"annotations":{"`+v1alpha1.EphemeralJobUniqueNamesAnnotation+`":%v}}}`, "null", "null", "null"))

// rareEdits are what users change seldom: for which pods the job is, and what it injects into those that are left.
var rareEdits = simulation.ReadEdits("rareEdits")

// act is what users do in a step, to the job or to pods.
func act(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(12); {
	case n < 5:
		u.Edit(simulation.AnyEdit(r, jobEdits))
	case n < 7 || pod == nil:
		u.CreateStranger(fmt.Sprint("p", r.IntN(8)))
	case n == 7:
		u.Quarantine(pod)
	case n == 8:
		u.TakeName(pod)
	case n == 9:
		u.DeletePod(pod.Name, nil)
	case n == 10: // a user has debugged it by hand
		u.PatchPod(pod.Name, simulation.Pick(`{"spec":{"ephemeralContainers":[{"name":"%v","image":"theirs"}]}}`, "debug", "theirs")(r), "ephemeralcontainers")
	default:
		u.PatchPod(pod.Name, `{"metadata":{"annotations":{"note":"`+fmt.Sprint(r.IntN(9))+`"}}}`)
	}
}

// push is all that users do in the end: nothing holds the job back, and there is a pod that no user has debugged.
func push(u *simulation.User) {
	u.Release("example.com/hold") // the controller removes its own
	u.Edit(`{"spec":{"paused":false,"parallelism":2,"replicas":null,"activeDeadlineSeconds":null,"ttlSecondsAfterFinished":100000}}`)
	u.CreateStranger("new-1")
	u.CreateStranger("new-2")
}
