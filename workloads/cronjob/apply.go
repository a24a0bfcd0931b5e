// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
)

// claim is a scheduled time that status.lastScheduleTime claims, or may claim.
type claim struct {
	of        types.UID
	scheduled time.Time
	created   bool // its job has been created, and may be gone
}

// seen remembers that a scheduled time has its job.
func (r *reconciler) seen(key types.NamespacedName, of types.UID, scheduled time.Time) {
	if c := r.claims.Get(key); c.of == of && c.scheduled.Equal(scheduled) {
		r.claims.Set(key, claim{of: of, scheduled: scheduled, created: true})
	}
}

// newWriter returns what a Reconciler writes the status and records events with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{
		Workloads:   resourceCronJobs,
		TimedStatus: true,
		Clock:       o.Clock,
		Merge:       apiwriter.TypedMerge(o.Workloads.AdvancedCronJobs),
		Recorder:    o.Recorder,
	}
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	snapshot *Snapshot
	plan     *Plan
}

// apply does what the plan says. The status claims the scheduled time before its job is
// created. So no time is run twice, whatever becomes of the job, of the answer, or of
// this process. (ACJ-13.2)
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.CronJob), snapshot: s, plan: plan}
	for _, c := range plan.Children {
		r.seen(a.Key, s.CronJob.UID, c.Scheduled)
	}
	a.recordWaiting()
	noteErr := a.noteSchedule(ctx) // this process knows it anyway
	if err := a.settleRefused(ctx); err != nil {
		return 0, errors.Join(noteErr, err)
	}
	noteErr = errors.Join(noteErr, apply.Each(ctx, plan.Release, a.release))
	if err := apply.Each(ctx, plan.Replace, a.delete); err != nil {
		return 0, errors.Join(noteErr, err, a.holdBack(ctx))
	}
	if err := a.status(ctx); err != nil || a.Gone {
		return 0, errors.Join(noteErr, err)
	}
	startErr := a.start(ctx)
	laterErr := errors.Join(noteErr, apply.Each(ctx, plan.Clean, a.delete))
	if laterErr != nil && 0 < plan.RequeueAfter && plan.RequeueAfter < lastRetry {
		klog.FromContext(ctx).Error(laterErr, "Notes, times to live or finished jobs beyond the history limits are left, trying again at the next scheduled time")
		laterErr = nil // a back-off would make the next job late (ACJ-5.1)
	}
	return plan.RequeueAfter, errors.Join(startErr, laterErr)
}

// settleRefused removes what says that a job was refused, if it is there by now. It does so before the job may be
// deleted, or have a time to live. (ACJ-13.2)
func (a *applier) settleRefused(ctx context.Context) error {
	if a.plan.Created.IsZero() {
		return nil
	}
	return a.setRefused(ctx, time.Time{})
}

// holdBack does what the plan says, but creates no job, and so claims no scheduled
// time. A job that is to be replaced could not be deleted. (ACJ-12.2)
func (a *applier) holdBack(ctx context.Context) error {
	var statusErr error
	if a.plan.Unclaimed != nil {
		statusErr = a.WriteStatus(ctx, &a.snapshot.CronJob.Status, a.plan.Unclaimed)
	}
	return errors.Join(statusErr, apply.Each(ctx, a.plan.Clean, a.delete))
}

// status writes the planned status. If that claims a scheduled time, it is
// remembered that the job has yet to be created.
func (a *applier) status(ctx context.Context) error {
	if a.plan.Status == nil {
		return nil
	}
	err := a.WriteStatus(ctx, &a.snapshot.CronJob.Status, a.plan.Status)
	if start := a.plan.Start; start != nil && (err == nil || apiwriter.Unanswered(err)) {
		a.claims.Set(a.Key, claim{of: a.snapshot.CronJob.UID, scheduled: start.Scheduled})
	}
	if err == nil && a.plan.Start != nil {
		a.recordClaim()
	}
	return err
}

// start creates the job that is due, if there is one.
func (a *applier) start(ctx context.Context) error {
	if a.plan.Start == nil {
		return nil
	}
	job, resource := a.plan.Start.object()
	a.claims.Set(a.Key, claim{of: a.snapshot.CronJob.UID, scheduled: a.plan.Start.Scheduled})
	err := a.creations.Create(a.snapshot.CronJob, func() error { return a.create(ctx) })
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // (ACJ-13.4)
	case apierrors.IsAlreadyExists(err):
		err = a.taken(ctx)
	case err != nil && apiwriter.Unanswered(err):
		a.Own.Lost(a.Key, resource, job.GetName())
	}
	if err != nil {
		a.recordRefusal(err)
		return fmt.Errorf("create %s %s: %w", resource, job.GetName(), a.refuse(ctx, err))
	}
	a.seen(a.Key, a.snapshot.CronJob.UID, a.plan.Start.Scheduled)
	a.refusals.Forget(a.Key)
	a.recordStart()
	return a.setRefused(ctx, time.Time{})
}

// create creates the job.
func (a *applier) create(ctx context.Context) error {
	job, resource := a.plan.Start.object()
	version, err := a.clients[resource].create(ctx, job)
	if err != nil {
		return err
	}
	a.created(version)
	return nil
}

// created remembers the job, so that the next reconcile waits until the cache shows it.
func (a *applier) created(resourceVersion string) {
	job, resource := a.plan.Start.object()
	a.Wrote(resource, resourceVersion)
	a.Own.Created(a.Key, apiwriter.Creation{Resource: resource, Name: job.GetName(), Owner: a.snapshot.CronJob.UID})
}

// taken finds out whether the job that has the name is the one that is due, which
// was created before.
func (a *applier) taken(ctx context.Context) error {
	job, resource := a.plan.Start.object()
	found, err := a.clients[resource].read(ctx, a.Key.Namespace, job.GetName())
	if err != nil {
		return fmt.Errorf("it exists, read it: %w", err)
	}
	if !metav1.IsControlledBy(found, a.snapshot.CronJob) {
		return errors.New("the name is taken by another one, which this AdvancedCronJob does not control: delete that one")
	}
	a.created(found.GetResourceVersion())
	return nil
}

// delete deletes a job with its pods, if it is still this one.
func (a *applier) delete(ctx context.Context, c Child) error {
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &c.Reference.UID}}
	name, resource := c.Reference.Name, c.resource()
	err := a.clients[resource].delete(ctx, a.Key.Namespace, name, options)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		a.Event(corev1.EventTypeWarning, reasonFailedDelete, "delete %s %s: %v", c.Reference.Kind, name, err)
	} else {
		a.Event(corev1.EventTypeNormal, reasonSuccessfulDelete, "deleted %s %s", c.Reference.Kind, name)
	}
	if err == nil || apiwriter.Unanswered(err) {
		a.Own.Lost(a.Key, resource, name) // the answer does not say when the cache will show it
	}
	if err != nil {
		return fmt.Errorf("delete %s %s: %w", resource, name, err)
	}
	return nil
}
