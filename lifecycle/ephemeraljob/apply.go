// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// JobMetrics receives what jobs do. Implementations must be safe for use by several
// goroutines.
type JobMetrics interface {
	// Injected is called after a reconcile has tried to inject. Its arguments are the numbers of pods
	// that got their containers, and of those that the API server has refused.
	Injected(served, refused int)
	// Finished is called when a job has succeeded or failed, with the numbers of pods by result,
	// and the time since its start. A job whose last write of the status had no answer is
	// left out.
	Finished(phase v1alpha1.EphemeralJobPhase, succeeded, failed int32, took time.Duration)
}

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourceEphemeralJobs, o.Recorder
	w.Merge = apiwriter.TypedMerge(o.Lifecycle.EphemeralJobs)
	return w
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	job      *v1alpha1.EphemeralJob
	snapshot *Snapshot
	plan     *Plan
}

// apply applies the plan. One pod's failure does not stop the others, nor the status; all errors
// are collected, so that the reconcile is repeated.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Job), job: s.Job, snapshot: s, plan: plan}
	if plan.AddFinalizer || plan.RemoveFinalizer {
		if err := a.finalizer(ctx); err != nil || a.Gone {
			return 0, err
		}
	}
	again, err := a.inject(ctx)
	if err != nil { // refusals, which the status tells of, are none
		a.RecordFailure(apply.Update, err)
	}
	err = errors.Join(err, a.status(ctx))
	if plan.DeleteJob {
		err = errors.Join(err, a.deleteJob(ctx))
	}
	return apply.Soonest(plan.RequeueAfter, again, a.NoteHeld(a.Key, plan.Held, s.Now)), apply.WorthRetrying(err)
}

// finalizer adds or removes the finalizer, and leaves those of others alone: the API server
// refuses it if the job has changed. (EJ-2, EJ-20)
func (a *applier) finalizer(ctx context.Context) error {
	const own = v1alpha1.EphemeralJobFinalizer
	finalizers := slices.DeleteFunc(slices.Clone(a.job.Finalizers), func(f string) bool { return f == own })
	if a.plan.AddFinalizer {
		finalizers = append(finalizers, own)
	}
	return a.WriteFinalizers(ctx, finalizers)
}

// status writes the planned status, and records the events of what has come to stand in it.
// (EJ-22)
func (a *applier) status(ctx context.Context) error {
	if a.plan.Status == nil {
		return nil
	}
	// The end of the job stands there alone: a reconcile that did not know it would inject. (EJ-1)
	switch err := a.WriteStatus(ctx, &a.job.Status, a.plan.Status); {
	case err != nil:
		return a.Unanswered(resourceEphemeralJobs, a.Key.Name, err)
	case a.Gone:
		return nil
	}
	a.reported.Set(a.Key, a.snapshot.Now)
	if s := a.plan.Status; s.CompletionTime != nil && a.job.Status.CompletionTime == nil {
		controller.Measure(a.options.JobMetrics, func(m JobMetrics) { m.Finished(s.Phase, s.Succeeded, s.Failed, s.CompletionTime.Sub(s.StartTime.Time)) })
	}
	for _, e := range a.plan.Events {
		a.Event(e.Type, e.Reason, "%s", e.Message)
	}
	return nil
}

// deleteJob deletes the job, unless another one has taken its name. (EJ-19)
func (a *applier) deleteJob(ctx context.Context) error {
	return a.DeleteOver(ctx, a.options.Lifecycle.EphemeralJobs(a.Key.Namespace).Delete)
}
