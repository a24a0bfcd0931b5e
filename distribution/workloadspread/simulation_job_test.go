// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationOfJobs is TestSimulation with a Job, whose pods run to their end. (WS-2, WS-19)
func TestSimulationOfJobs(t *testing.T) {
	alone, together := simulated(&bug{of: ofJob}), simulated(&bug{of: ofJob, together: true})
	alone.Webhooks = 1 // nothing is put right later, as the pods of a Deployment are (WS-19)
	simulation.Check(t, alone, together)
}

// TestSimulationFindsBugsOfJobs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfJobs(t *testing.T) {
	plant := simulation.Plant(t, spreading(ofJob))
	plant("pods get costs", invariants.Order, 0, inPlan(costOfCustom))
	plant("pods that are misplaced are deleted", invariants.Needless, 0, inPlan(deleteOfCustom))
	plant("pods that could not be scheduled are deleted", invariants.Needless, 47, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Computed == nil {
			return
		}
		for _, stay := range p.Staying {
			p.Deletions = append(p.Deletions, spread.Deletion{Pod: stay.Pod, Subset: stay.Subset, Why: spread.Unschedulable})
		}
		p.MayDelete = len(p.Deletions)
	}))
	plant("pods that have succeeded count", invariants.Status, 0, inPods(revived(corev1.PodSucceeded)))
	plant("pods that have succeeded keep their place", invariants.Placement, 0, inPlacer(changing(revived(corev1.PodSucceeded))))
	plant("the completions are wanted, and not the parallelism", invariants.Status, 0, inWorkload(func(w *spread.Workload) { w.Replicas = new(int32(completions)) }))
}

// completions is how many pods of a Job are to succeed: more than a history comes to, for most seeds.
const completions = 20

// jobBeside is what a simulation needs to know of the Job that is spread, whose controller is a model.
func jobBeside(*bug) *simulation.Subject {
	return &simulation.Subject{
		Resource: others[5],
		Empty:    func() simulation.Object { return &batchv1.Job{} },
		Create:   anyJob,
		Start:    startJobs,
		Ignores:  []string{spreadResource.Name, "persistentvolumeclaims", "controllerrevisions", "nodes"},
		Act:      func(u *simulation.User, r *rand.Rand) { u.Edit(simulation.AnyEdit(r, jobEdits)) },
		Push:     func(u *simulation.User) { u.Edit(`{"spec":{"parallelism":6}}`) },
		Judge:    simulation.Unjudged,
	}
}

func anyJob(r *rand.Rand) simulation.Object {
	job := &batchv1.Job{Spec: batchv1.JobSpec{
		Parallelism: new(1 + r.Int32N(6)), Completions: new(int32(completions)), BackoffLimit: new([]int32{0, 1, 6}[r.IntN(3)]), Template: webTemplate(),
	}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return job
}

var jobEdits = simulation.ReadEdits("jobEdits")

// jobs is a model of the controller of Jobs. Its pods stay until it has counted them.
type jobs struct{ model }

func startJobs(p *simulation.Process) (simulation.Controller, error) {
	return started(p, func(m model) reconciles { return (&jobs{m}).reconcile })
}

func (j *jobs) reconcile(ctx context.Context, _ types.NamespacedName) (time.Duration, error) {
	var job *batchv1.Job
	if live := j.process.Live("jobs"); len(live) > 0 && live[0].GetDeletionTimestamp() == nil {
		job = live[0].(*batchv1.Job)
	}
	var active []*corev1.Pod
	succeeded, failed, counted := int32(0), int32(0), []*corev1.Pod{}
	for _, object := range j.process.Live(string(resourcePods)) {
		pod := object.(*corev1.Pod)
		switch own := job != nil && metav1.IsControlledBy(pod, job); {
		case own && simulation.Active(pod):
			active = append(active, pod)
			continue
		case own && pod.Status.Phase == corev1.PodSucceeded:
			succeeded++
		case own && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer):
			failed++
		}
		counted = append(counted, pod)
	}
	if err := j.count(ctx, job, failed); err != nil {
		return 0, err
	}
	for _, pod := range counted { // they have ended, or their Job is gone
		if err := j.release(ctx, pod); err != nil {
			return 0, err
		}
	}
	if job == nil {
		return 0, nil
	}
	wants := max(min(*job.Spec.Parallelism, *job.Spec.Completions-succeeded), 0)
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		wants = 0
	}
	for range int(wants) - len(active) {
		if err := j.create(ctx, job, batchv1.SchemeGroupVersion.WithKind("Job"), &job.Spec.Template, batchv1.JobTrackingFinalizer); err != nil {
			return 0, err
		}
	}
	for i := range len(active) - int(wants) { // they do not count as failed
		if err := errors.Join(j.release(ctx, active[i]), j.remove(ctx, active[i])); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// count writes down that more pods have failed.
func (j *jobs) count(ctx context.Context, job *batchv1.Job, failed int32) error {
	if failed == 0 {
		return nil
	}
	_, err := j.kube.BatchV1().Jobs(job.Namespace).Patch(ctx, job.Name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"failed":%d}}`, job.UID, job.Status.Failed+failed), metav1.PatchOptions{}, "status")
	return err
}

// release takes the finalizer from a pod that has been counted.
func (j *jobs) release(ctx context.Context, pod *corev1.Pod) error {
	if !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
		return nil
	}
	_, err := j.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"uid":%q,"finalizers":null}}`, pod.UID), metav1.PatchOptions{})
	return err
}

// aboutJob has what users change be about a Job, which says elsewhere how many pods it wants.
func aboutJob(edit string) string {
	return strings.ReplaceAll(edit, "spec.replicas", "spec.parallelism")
}
