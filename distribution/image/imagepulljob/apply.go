// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
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

// newWriter returns what a Reconciler writes the status and records events with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{
		Workloads: resourceImagePullJobs, Recorder: o.Recorder, Clock: o.Clock,
		Merge: apiwriter.TypedMerge(o.Distribution.ImagePullJobs),
	}
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	job  *v1alpha1.ImagePullJob
	plan *Plan
	// missed counts the nodes that did not get their task.
	missed atomic.Int32
}

// apply does what the plan says. One node's failure does not stop the others; all
// errors are collected, so that the reconcile is repeated. Copies of pull secrets are
// released when everything else is done.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if s.Job == nil && len(plan.Release) > 0 {
		if gone, err := r.isGone(ctx, s.key); err != nil || !gone {
			return 0, err
		}
	}
	if s.Job != nil {
		a := &applier{reconciler: r, Sync: r.writer.Begin(s.Job), job: s.Job, plan: plan}
		if requeueAfter, err = a.apply(ctx, s.Now); err != nil {
			return requeueAfter, err
		}
	}
	return requeueAfter, apply.Each(ctx, plan.Release, func(ctx context.Context, copied *corev1.Secret) error {
		version, err := r.copier.release(ctx, s.key, copied.Name)
		if version != "" {
			r.writer.Own.Wrote(s.key, resourceSecrets, version)
		}
		return err
	})
}

// isGone asks the API server whether a job that is in no cache is gone: a shared informer
// may leave it out. One that is there is looked after when the cache shows it. (IMG-1.6)
func (r *reconciler) isGone(ctx context.Context, job types.NamespacedName) (bool, error) {
	live, err := apiwriter.Found(r.options.Distribution.ImagePullJobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{}))
	if err != nil {
		return false, fmt.Errorf("find out whether ImagePullJob %s is gone: %w", job, err)
	}
	return live == nil, nil
}

func (a *applier) apply(ctx context.Context, now time.Time) (requeueAfter time.Duration, err error) {
	if a.plan.RemoveFinalizer {
		others := slices.DeleteFunc(slices.Clone(a.job.Finalizers), func(f string) bool { return f == v1alpha1.ImagePullJobFinalizer })
		if err := a.WriteFinalizers(ctx, others); err != nil || a.Gone {
			return 0, err
		}
	}
	if a.plan.Delete {
		return 0, a.delete(ctx)
	}
	if a.Begins(heldUpEvent, len(a.plan.HeldTexts) > 0) {
		a.Event(corev1.EventTypeWarning, heldUpEvent, "%s", images.Cut(strings.Join(a.plan.HeldTexts, "; "), 800))
	}
	err = errors.Join(
		apply.Each(ctx, a.plan.Copy, func(ctx context.Context, name string) error { return a.copy(ctx, name, now) }),
		apply.Each(ctx, a.plan.Assign, a.assign))
	requeueAfter = apply.Soonest(a.plan.RequeueAfter, a.NoteHeld(a.Key, a.plan.Held, now))
	return requeueAfter, errors.Join(err, a.status(ctx, now))
}

// heldUpEvent is the reason of the event about a job that is held up, or whose nodes do not get its pull secrets. (IMG-1.9)
const heldUpEvent = "HeldUp"

// copy looks at a pull secret, and makes its copy what it should be.
func (a *applier) copy(ctx context.Context, name string, now time.Time) error {
	version, err := a.copier.copy(ctx, a.Key, name, now)
	if version != "" {
		a.Wrote(resourceSecrets, version)
	}
	if err != nil {
		a.RecordFailure(apply.Update, err)
	}
	return err
}

// assign gives a node its task. A node that is gone needs none: the cache will
// show it.
func (a *applier) assign(ctx context.Context, h Assignment) error {
	name := h.NodeImage.Name
	data, err := h.Patch()
	if err != nil {
		return fmt.Errorf("give node %s its task: %w", name, err)
	}
	err = a.PutBack("NodeImage "+name, apply.Wanted(data), func() error { return a.send(ctx, h, data) })
	if err != nil && !h.Renew {
		a.missed.Add(1)
	}
	return err
}

// send sends what gives a node its task.
func (a *applier) send(ctx context.Context, h Assignment, data []byte) error {
	name := h.NodeImage.Name
	changed, err := a.options.Distribution.NodeImages().Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		err = fmt.Errorf("give node %s its task: %w", name, err)
		a.RecordFailure(apply.Update, err)
		return err
	}
	a.Wrote(resourceNodeImages, changed.ResourceVersion)
	return nil
}

// status writes the planned status, without the nodes that did not get their task.
func (a *applier) status(ctx context.Context, now time.Time) error {
	if a.plan.Status == nil {
		return nil
	}
	status := a.plan.Status.DeepCopy()
	status.Active -= a.missed.Load()
	if err := a.WriteStatus(ctx, &a.job.Status, status); err != nil {
		return err
	}
	a.reported.Set(a.Key, now)
	return nil
}

// delete deletes the job, unless another one has taken its name.
func (a *applier) delete(ctx context.Context) error {
	return a.DeleteOver(ctx, a.options.Distribution.ImagePullJobs(a.Key.Namespace).Delete)
}
