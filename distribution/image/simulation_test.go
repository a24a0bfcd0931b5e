// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
)

// The caches of the controllers.
const (
	imagePullJobs = podwright.Resource("imagepulljobs")
	nodeImages    = podwright.Resource("nodeimages")
)

const simulatedImages = string(nodeImages)

// TestSimulation has users change an ImagePullJob at random, and nodes come, go and die, amid everything that can go wrong. It judges
// each write of the controllers of the job and of NodeImages. A model plays the agents of nodes.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(fault{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(fault{}), 1)
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.ImagePullJob]{Create: imagepulljob.ValidateCreate, Update: imagepulljob.ValidateUpdate}, simulated(fault{}))
}

// fault is a bug of the controllers: what they send is spoilt.
type fault struct {
	method, resource string
	spoil            func(body map[string]any)
}

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	simulation.FindBugs(t, []simulation.Bug{
		{Name: "one node too few is reported", Breaks: invariants.Status, Workload: simulated(fault{"PATCH", "imagepulljobs", inStatus(func(status map[string]any) {
			if n, is := status["desired"].(float64); is && n > 0 {
				status["desired"] = n - 1
			}
		})})},
		{Name: "a job ends early", Breaks: invariants.Status, Workload: simulated(fault{"PATCH", "imagepulljobs", inStatus(func(status map[string]any) {
			status["completionTime"] = "2000-01-01T00:00:00Z"
		})})},
		{Name: "a task is given to no agent", Breaks: invariants.Settled, Workload: simulated(fault{"PATCH", simulatedImages, func(body map[string]any) {
			delete(body, "spec")
		}})},
	})
}

func inStatus(spoil func(status map[string]any)) func(map[string]any) {
	return func(body map[string]any) {
		if status, is := body["status"].(map[string]any); is {
			spoil(status)
		}
	}
}

// simulated is what a simulation needs to know of ImagePullJobs, whose controllers have a bug.
func simulated(bug fault) *simulation.Subject {
	images := fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("NodeImage"), simulatedImages)
	images.ClusterScoped = true
	return &simulation.Subject{
		Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs"),
		Empty:    func() simulation.Object { return &v1alpha1.ImagePullJob{} },
		Further: []simulation.Further{
			{Resource: images, Empty: func() simulation.Object { return &v1alpha1.NodeImage{} }},
			{Resource: fakecluster.BuiltIn(corev1.SchemeGroupVersion.WithKind("Secret"), "secrets", func() any { return &corev1.Secret{} }),
				Empty: func() simulation.Object { return &corev1.Secret{} }},
		},
		Nodes:       4,
		KubeletsDie: true,
		Patience:    20 * time.Minute,
		Refusals:    []invariants.Refusal{{Verb: "patch", Resource: simulatedImages}, {Verb: "create", Resource: simulatedImages}},
		Create:      func(r *rand.Rand) simulation.Object { return anyJob(r) },
		Start:       func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, bug) },
		Others:      func(u *simulation.User, r *rand.Rand) { pullSome(u, r.IntN(3)) },
		Release:     func(u *simulation.User) { pullSome(u, 2) },
		Act:         actOnJob,
		Push: func(u *simulation.User) {
			u.Edit(`{"spec":{"image":"nginx:9","parallelism":2,"selector":null,"podSelector":null,"imagePullPolicy":null,"completionPolicy":{"type":"Always","activeDeadlineSeconds":null,"ttlSecondsAfterFinished":null}}}`)
		},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: invariants.ImagePullJob, Settled: invariants.ImagePullJobSettled}
		},
	}
}

// startSimulated starts the controllers of jobs and NodeImages as one: a reconcile is one of the job and of all nodes.
func startSimulated(p *simulation.Process, bug fault) (simulation.Controller, error) {
	if bug.spoil != nil {
		p.Config.Wrap(simulation.SpoilBodies(bug.method, bug.resource, bug.spoil))
	}
	kube, err := p.Kubernetes()
	if err != nil {
		return simulation.Controller{}, err
	}
	distribution, err := client.NewForConfig(p.Config)
	if err != nil {
		return simulation.Controller{}, err
	}
	// Pull secrets are not copied, and no workload controls the job.
	shared := podwright.ControllerOptions{Reader: planted.Read(p, imagePullJobs, nodeImages, caches.Pods, caches.Nodes, "secrets").Reader}
	jobs, err := imagepulljob.NewReconciler(imagepulljob.Options{ControllerOptions: shared, Kubernetes: kube, Distribution: distribution, ReferToSourceSecrets: true})
	if err != nil {
		return simulation.Controller{}, err
	}
	nodes, err := nodeimage.NewReconciler(nodeimage.Options{ControllerOptions: shared, Kubernetes: kube, Distribution: distribution})
	if err != nil {
		return simulation.Controller{}, err
	}
	return simulation.Controller{
		Reconcile: func(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
			p.Observe()
			after, err := jobs.Reconcile(ctx, key)
			for _, name := range simulatedNodes {
				next, failed := nodes.Reconcile(ctx, types.NamespacedName{Name: name})
				after, err = apply.Soonest(after, next), errors.Join(err, failed)
			}
			return after, err
		},
		Unfinished: func() (string, error) {
			text, err := jobPackage.Unfinished(jobs, simulation.Web)
			for _, name := range simulatedNodes {
				left, failed := nodePackage.Unfinished(nodes, types.NamespacedName{Name: name})
				text, err = text+left, errors.Join(err, failed)
			}
			return text, err
		},
	}, nil
}

// simulatedNodes are those that a history may have.
var simulatedNodes = []string{"n1", "n2", "n3", "n4", "n5", "n6"}

// pullSome has the agents of nodes that live go on with a task: they begin it, fail or, with 2, end it.
func pullSome(u *simulation.User, how int) {
	for _, object := range u.Objects(simulatedImages) {
		image := object.(*v1alpha1.NodeImage)
		if !u.Lives(image.Name) {
			continue
		}
		for name, spec := range image.Spec.Images {
			statuses, changed := pulled(spec.Tags, image.Status.ImageStatuses[name].Tags, how)
			if !changed {
				continue
			}
			data, err := json.Marshal(map[string]any{"status": map[string]any{"observedGeneration": image.Generation, "imageStatuses": map[string]any{name: map[string]any{"tags": statuses}}}})
			if err != nil {
				panic(err)
			}
			u.Patch(simulatedImages, image.Name, string(data), "status")
			break
		}
	}
}

// pulled are the states of the tags of an image after a step of the agent.
func pulled(tags []v1alpha1.ImageTagSpec, before []v1alpha1.ImageTagStatus, how int) (after []v1alpha1.ImageTagStatus, changed bool) {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	for _, task := range tags {
		status := v1alpha1.ImageTagStatus{Tag: task.Tag, Phase: v1alpha1.ImagePhasePulling, StartTime: &now, Version: task.Version}
		known := false
		for _, was := range before {
			if was.Tag == task.Tag && was.Version == task.Version {
				status, known = was, true
			}
		}
		if status.CompletionTime == nil && (how > 0 || !known) {
			changed = true
			if how > 0 {
				status.CompletionTime, status.Phase = &now, v1alpha1.ImagePhaseSucceeded
			}
			if how == 1 || task.Tag == "bad" && how == 2 {
				status.Phase = v1alpha1.ImagePhaseFailed
			}
		}
		after = append(after, status)
	}
	return after, changed
}

// anyJob is the ImagePullJob of a seed.
func anyJob(r *rand.Rand) *v1alpha1.ImagePullJob {
	job := &v1alpha1.ImagePullJob{Spec: v1alpha1.ImagePullJobSpec{Image: "nginx:1", CompletionPolicy: v1alpha1.CompletionPolicy{Type: v1alpha1.Always},
		PullPolicy: &v1alpha1.PullPolicy{TimeoutSeconds: new(int32(600)), BackoffLimit: new(int32(3))}}} // as the webhook has set
	for range r.IntN(5) {
		simulation.Merge(job, simulation.AnyEdit(r, jobEdits))
	}
	return job
}

// jobEdits are what users change about an ImagePullJob.
var jobEdits = simulation.ReadEdits("jobEdits")

// actOnJob is what users do in a step.
func actOnJob(u *simulation.User, r *rand.Rand) {
	switch n := r.IntN(8); {
	case n < 5:
		u.Edit(simulation.AnyEdit(r, jobEdits))
	case n == 5:
		u.CreateStranger(fmt.Sprint("p", r.IntN(4)))
	case n == 6:
		u.Delete(metav1.DeletePropagationBackground)
	default:
		if image := u.AnyObject(simulatedImages, r); image != nil {
			u.Patch(simulatedImages, image.GetName(), simulation.Pick(`{"metadata":{"labels":{"ring":"%v"}}}`, "a", "b")(r))
		}
	}
}
