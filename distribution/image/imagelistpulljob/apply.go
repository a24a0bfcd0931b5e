// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/images"
)

// Events about a job, with spaces as OpenKruise has them. (ILP-6)
const (
	reasonCreated = "Successful create ImagePullJob"
	reasonDeleted = "Successful delete ImagePullJob"
)

// atOnce is how many ImagePullJobs are created at the same time, at most.
const atOnce = 16

// newWriter returns what a Reconciler writes the status and records events with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{
		Workloads: resourceLists, Recorder: o.Recorder, Clock: o.Clock,
		Merge: apiwriter.TypedMerge(o.Distribution.ImageListPullJobs),
	}
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	job  *v1alpha1.ImageListPullJob
	plan *Plan
}

// apply does what the plan says. ImagePullJobs that are to go come first: the others may pull the same images. All errors are
// collected, so that the reconcile is repeated.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Job), job: s.Job, plan: plan}
	if plan.DeleteJob {
		return 0, a.deleteJob(ctx)
	}
	return plan.RequeueAfter, errors.Join(a.deleteJobs(ctx), a.createJobs(ctx), apply.Each(ctx, plan.Keep, a.keep), a.status(ctx, s.Now))
}

// deleteJobs deletes the ImagePullJobs that are not wanted.
func (a *applier) deleteJobs(ctx context.Context) error {
	err := apply.Each(ctx, a.plan.Delete, a.deleteUnwanted)
	if n := len(a.plan.Delete); n > 0 && err == nil {
		a.Event(corev1.EventTypeNormal, reasonDeleted, "Delete %d ImagePullJob", n)
	}
	return err
}

// deleteUnwanted deletes an ImagePullJob, if it is still this one.
func (a *applier) deleteUnwanted(ctx context.Context, job *v1alpha1.ImagePullJob) error {
	background := metav1.DeletePropagationBackground
	err := a.options.Distribution.ImagePullJobs(job.Namespace).Delete(ctx, job.Name,
		metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &job.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err == nil || apiwriter.Unanswered(err) {
		a.Own.Lost(a.Key, resourceJobs, job.Name) // the answer does not say when the cache will show it
	}
	if err != nil {
		err = fmt.Errorf("delete ImagePullJob %s: %w", job.Name, err)
		a.RecordFailure(apply.Delete, err)
	}
	return err
}

// createJobs creates the ImagePullJobs that are missing, in batches of 1, 2, 4 and so on, and remembers why some could not be.
func (a *applier) createJobs(ctx context.Context) error {
	var lock sync.Mutex
	refused := map[string]string{}
	created, err := apiwriter.SlowStart(ctx, len(a.plan.Create), atOnce, 2, func(i int) error {
		err := a.create(ctx, a.plan.Create[i])
		if err != nil {
			lock.Lock()
			defer lock.Unlock()
			refused[a.plan.Create[i].Spec.Image] = images.Cut(err.Error(), 400)
		}
		return err
	})
	if created > 0 {
		a.Event(corev1.EventTypeNormal, reasonCreated, "Create %d ImagePullJob", created)
	}
	a.remember(refused)
	return err
}

// remember keeps why ImagePullJobs could not be created. What was not tried in this reconcile stays refused as before.
func (a *applier) remember(refused map[string]string) {
	known := map[string]string{}
	for _, job := range a.plan.Create {
		if was, ok := a.refusals.Get(a.Key)[job.Spec.Image]; ok && len(refused) > 0 {
			known[job.Spec.Image] = was
		}
	}
	maps.Copy(known, refused)
	if len(known) == 0 {
		a.refusals.Forget(a.Key)
		return
	}
	a.refusals.Set(a.Key, known)
}

// create creates an ImagePullJob.
func (a *applier) create(ctx context.Context, job *v1alpha1.ImagePullJob) error {
	jobs := a.options.Distribution.ImagePullJobs(a.Key.Namespace)
	var version string
	err := a.creations.Create(a.job, func() error {
		created, err := jobs.Create(ctx, job, metav1.CreateOptions{})
		if err == nil {
			version = created.ResourceVersion
		}
		return err
	})
	if apierrors.IsAlreadyExists(err) {
		version, err = a.taken(ctx, job)
	}
	if err == nil {
		a.Wrote(resourceJobs, version)
		a.Own.Created(a.Key, apiwriter.Creation{Resource: resourceJobs, Name: job.Name, Owner: a.job.UID})
		return nil
	}
	err = fmt.Errorf("create ImagePullJob %s: %w", job.Name, a.Unanswered(resourceJobs, job.Name, err))
	a.RecordFailure(apply.Create, err)
	return err
}

// taken finds out whether the ImagePullJob that has the name is the one that was to be created, perhaps by a request before.
func (a *applier) taken(ctx context.Context, job *v1alpha1.ImagePullJob) (version string, err error) {
	found, err := a.options.Distribution.ImagePullJobs(a.Key.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("it exists, read it: %w", err)
	}
	if !metav1.IsControlledBy(found, a.job) {
		return "", errors.New("the name is taken by another one, which this ImageListPullJob does not control: delete that one")
	}
	return found.ResourceVersion, nil
}

// keep takes its time to live from an ImagePullJob. (ILP-5)
func (a *applier) keep(ctx context.Context, job *v1alpha1.ImagePullJob) error {
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": job.UID, "resourceVersion": job.ResourceVersion},
		"spec":     map[string]any{"completionPolicy": map[string]any{"ttlSecondsAfterFinished": nil}},
	})
	if err != nil {
		return fmt.Errorf("keep ImagePullJob %s: %w", job.Name, err)
	}
	return a.PutBack("ImagePullJob "+job.Name, apply.Wanted(data), func() error {
		changed, err := a.options.Distribution.ImagePullJobs(job.Namespace).Patch(ctx, job.Name, types.MergePatchType, data, metav1.PatchOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			err = fmt.Errorf("take its time to live from ImagePullJob %s: %w", job.Name, err)
			a.RecordFailure(apply.Update, err)
			return err
		}
		a.Wrote(resourceJobs, changed.ResourceVersion)
		return nil
	})
}

// status writes the planned status.
func (a *applier) status(ctx context.Context, now time.Time) error {
	if a.plan.Status == nil {
		return nil
	}
	if err := a.WriteStatus(ctx, &a.job.Status, a.plan.Status); err != nil {
		return err
	}
	a.reported.Set(a.Key, now)
	return nil
}

// deleteJob deletes the job, unless another one has taken its name.
func (a *applier) deleteJob(ctx context.Context) error {
	return a.DeleteOver(ctx, a.options.Distribution.ImageListPullJobs(a.Key.Namespace).Delete)
}
