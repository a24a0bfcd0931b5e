// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
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
	simulation.Check(t, simulated("", nil))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated("", nil), 1)
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.ImageListPullJob]{Create: ValidateCreate, Update: ValidateUpdate}, simulated("", nil))
}

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	inStatus := func(spoil func(status map[string]any)) func(map[string]any) {
		return func(body map[string]any) {
			if status, is := body["status"].(map[string]any); is {
				spoil(status)
			}
		}
	}
	simulation.FindBugs(t, []simulation.Bug{
		{Name: "one image too few is reported", Breaks: invariants.Status, Workload: simulated("imagelistpulljobs", inStatus(func(status map[string]any) {
			if n, is := status["desired"].(float64); is && n > 0 {
				status["desired"] = n - 1
			}
		}))},
		{Name: "a job ends early", Breaks: invariants.Status, Workload: simulated("imagelistpulljobs", inStatus(func(status map[string]any) {
			status["completionTime"] = "2000-01-01T00:00:00Z"
		}))},
		{Name: "an ImagePullJob has a time to live", Breaks: invariants.Needless, Workload: simulated("imagepulljobs", func(body map[string]any) {
			if spec, is := body["spec"].(map[string]any); is {
				spec["completionPolicy"].(map[string]any)["ttlSecondsAfterFinished"] = 5
			}
		})},
	})
}

// simulated is what a simulation needs to know of ImageListPullJobs, whose controller has a bug in what it sends of a resource.
func simulated(resource string, spoil func(body map[string]any)) *simulation.Subject {
	return &simulation.Subject{
		Resource: listResource,
		Empty:    func() simulation.Object { return &v1alpha1.ImageListPullJob{} },
		Further:  []simulation.Further{{Resource: jobResource, Empty: func() simulation.Object { return &v1alpha1.ImagePullJob{} }}},
		Patience: 20 * time.Minute,
		Refusals: []invariants.Refusal{{Verb: "create", Resource: "imagepulljobs"}, {Verb: "delete", Resource: "imagepulljobs"}},
		Create:   func(r *rand.Rand) simulation.Object { return anyList(r) },
		Start:    func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, resource, spoil) },
		Others:   func(u *simulation.User, r *rand.Rand) { pullSome(u, r.IntN(4)) },
		Release:  func(u *simulation.User) { pullSome(u, 3) },
		Act:      actOnList,
		Push: func(u *simulation.User) {
			u.Edit(`{"spec":{"images":["a","z"],"completionPolicy":{"type":"Always","activeDeadlineSeconds":null,"ttlSecondsAfterFinished":null}}}`)
		},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: invariants.ImageListPullJob, Settled: invariants.ImageListPullJobSettled}
		},
	}
}

func startSimulated(p *simulation.Process, resource string, spoil func(body map[string]any)) (simulation.Controller, error) {
	if spoil != nil {
		p.Config.Wrap(simulation.SpoilBodies("PATCH", resource, spoil))
		p.Config.Wrap(simulation.SpoilBodies("POST", resource, spoil))
	}
	distribution, err := client.NewForConfig(p.Config)
	if err != nil {
		return simulation.Controller{}, err
	}
	lists, err := NewReconciler(Options{ControllerOptions: podwright.ControllerOptions{Reader: planted.Read(p, resourceLists, resourceJobs)},
		Distribution: distribution})
	if err != nil {
		return simulation.Controller{}, err
	}
	return simulation.Controller{
		Reconcile: lists.Reconcile,
		Unfinished: func() (string, error) {
			plan, err := lists.Plan(context.Background(), simulation.Web)
			if err != nil || plan == nil {
				return "", err
			}
			return plan.String(), nil
		},
	}, nil
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
