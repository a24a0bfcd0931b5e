// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
)

// TestSimulation has users change an ImageListPullJob and its ImagePullJobs at random, amid everything that can go wrong. It judges
// each write of the controller. A model plays the controller of ImagePullJobs.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(spoil{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(spoil{}), 1)
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.ImageListPullJob]{Create: ValidateCreate, Update: ValidateUpdate}, simulated(spoil{}))
}

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, simulated)
	inStatus := planted.InStatus[Options, Snapshot, Plan, v1alpha1.ImageListPullJobStatus]
	plant("one image too few is reported", invariants.Status, 0, inStatus(func(s *v1alpha1.ImageListPullJobStatus) {
		s.Desired = max(s.Desired, 1) - 1
	}))
	plant("a job ends early", invariants.Status, 0, inStatus(func(s *v1alpha1.ImageListPullJobStatus) {
		s.CompletionTime = new(metav1.Unix(0, 0))
	}))
	plant("an ImagePullJob has a time to live", invariants.Needless, 0, planted.InPlan[Options](func(_ *Snapshot, p *Plan) {
		for _, job := range p.Create {
			job.Spec.CompletionPolicy.TTLSecondsAfterFinished = new(int32(5))
		}
	}))
}

type spoil = simulation.Spoil[Options, Reconciler]

// simulated is what a simulation needs to know of ImageListPullJobs, whose controller has a bug.
func simulated(bug spoil) *simulation.Subject {
	return &simulation.Subject{
		Resource: listResource,
		Empty:    func() simulation.Object { return &v1alpha1.ImageListPullJob{} },
		Further:  []simulation.Further{{Resource: jobResource, Empty: func() simulation.Object { return &v1alpha1.ImagePullJob{} }}},
		Patience: 20 * time.Minute,
		Refusals: []invariants.Refusal{{Verb: "create", Resource: "imagepulljobs"}, {Verb: "delete", Resource: "imagepulljobs"}},
		Create:   func(r *rand.Rand) simulation.Object { return anyList(r) },
		Start: planted.Start(lists, bug, func(p *simulation.Process) (o Options, err error) {
			o.Reader = planted.Read(p, resourceLists, resourceJobs)
			o.Distribution, err = client.NewForConfig(p.Config)
			return o, err
		}),
		Others:  func(u *simulation.User, r *rand.Rand) { pullSome(u, r.IntN(4)) },
		Release: func(u *simulation.User) { pullSome(u, 3) },
		Act:     actOnList,
		Push: func(u *simulation.User) {
			u.Edit(`{"spec":{"images":["a","z"],"completionPolicy":{"type":"Always","activeDeadlineSeconds":null,"ttlSecondsAfterFinished":null}}}`)
		},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: invariants.ImageListPullJob, Settled: invariants.ImageListPullJobSettled}
		},
	}
}

// simulatedJobs is the resource of ImagePullJobs.
const simulatedJobs = "imagepulljobs"

// pullSome plays the controller of ImagePullJobs for one of them: it begins, fails on a node, or with 3 ends.
func pullSome(u *simulation.User, how int) {
	for _, object := range u.Objects(simulatedJobs) {
		job := object.(*v1alpha1.ImagePullJob)
		if job.Status.CompletionTime != nil && job.Status.ObservedGeneration != job.Generation {
			u.Patch(simulatedJobs, job.Name, fmt.Sprintf(`{"status":{"observedGeneration":%d}}`, job.Generation), "status")
		}
		if job.Status.CompletionTime != nil || job.DeletionTimestamp != nil {
			continue
		}
		now := metav1.NewTime(time.Now().Truncate(time.Second))
		s := v1alpha1.ImagePullJobStatus{ObservedGeneration: job.Generation, StartTime: job.Status.StartTime, Desired: 2, Active: 1, Failed: job.Status.Failed}
		switch {
		case s.StartTime == nil:
			s.StartTime = &now
		case how == 1:
			s.Failed = 1
		case how > 1:
			s.Active, s.Succeeded = 0, 2-s.Failed
			if job.Spec.CompletionPolicy.Type != v1alpha1.Never {
				s.CompletionTime = &now
			}
		}
		data, err := json.Marshal(map[string]any{"status": s})
		if err != nil {
			panic(err)
		}
		u.Patch(simulatedJobs, job.Name, string(data), "status")
		if how < 3 {
			return
		}
	}
}

// anyList is the ImageListPullJob of a seed.
func anyList(r *rand.Rand) *v1alpha1.ImageListPullJob {
	job := &v1alpha1.ImageListPullJob{Spec: v1alpha1.ImageListPullJobSpec{Images: []string{"a", "b"}, CompletionPolicy: v1alpha1.CompletionPolicy{Type: v1alpha1.Always},
		PullPolicy: &v1alpha1.PullPolicy{TimeoutSeconds: new(int32(600)), BackoffLimit: new(int32(3))}}} // as the webhook has set
	for range r.IntN(5) {
		simulation.Merge(job, simulation.AnyEdit(r, listEdits))
	}
	return job
}

// listEdits are what users change about an ImageListPullJob.
var listEdits = simulation.ReadEdits("listEdits")

// actOnList is what users do in a step.
func actOnList(u *simulation.User, r *rand.Rand) {
	job := u.AnyObject(simulatedJobs, r)
	switch n := r.IntN(8); {
	case n < 4 || job == nil:
		u.Edit(simulation.AnyEdit(r, listEdits))
	case n == 4:
		u.Delete(metav1.DeletePropagationBackground)
	case n == 5:
		u.DeleteObject(simulatedJobs, job.GetName(), metav1.DeletePropagationBackground)
	case n == 6:
		u.Patch(simulatedJobs, job.GetName(), simulation.Pick(`{"spec":{"image":"%v"}}`, "a", "b", "x")(r))
	default:
		u.Patch(simulatedJobs, job.GetName(), fmt.Sprintf(`{"spec":{"completionPolicy":{"ttlSecondsAfterFinished":%d}}}`, r.IntN(90)))
	}
}
