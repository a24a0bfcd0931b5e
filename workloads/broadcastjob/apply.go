// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// JobMetrics receives how jobs end. Implementations must be safe for use by several
// goroutines.
type JobMetrics interface {
	// Finished is called when a job is completed or has failed, with the numbers of nodes by
	// result, and the time since its start. A job whose last write of the status had no
	// answer is left out.
	Finished(phase v1alpha1.BroadcastJobPhase, succeeded, failed int32, took time.Duration)
}

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourceBroadcastJobs, o.Recorder
	w.Merge = apiwriter.TypedMerge(o.Workloads.BroadcastJobs)
	return w
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	job  *v1alpha1.BroadcastJob
	pods []*corev1.Pod
	plan *Plan
	// written is the status as it was observed, or written by this reconcile.
	written *v1alpha1.BroadcastJobStatus
	// missed is how many pods that the planned status counts as active are not.
	missed int32

	lock  sync.Mutex
	taken []string // names of pods of other owners
}

// apply applies the plan. One pod's failure does not stop the others; all errors are
// collected, so that the reconcile is repeated.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Job), job: s.Job, pods: s.Pods, plan: plan, written: &s.Job.Status}
	if plan.StatusFirst || a.shrinks() {
		if err := a.status(ctx); err != nil || a.Gone {
			return 0, apply.WorthRetrying(err)
		}
	}
	errs := []error{a.deletePods(ctx), a.createPods(ctx)}
	errs = append(errs, a.status(ctx))
	if plan.DeleteJob {
		errs = append(errs, a.deleteJob(ctx))
	}
	a.events()
	return apply.Soonest(plan.RequeueAfter, a.NoteHeld(a.Key, plan.Held, s.Now)), apply.WorthRetrying(errs...)
}

// shrinks tells whether pods are to be created while others are gone that the status
// counts. Perhaps the job is gone too: the garbage collector deletes its pods after it,
// and the caches may show that the other way round. A write of the status, which is due
// anyway, finds that out before pods are created for a job that is gone.
func (a *applier) shrinks() bool {
	if a.plan.Status == nil || len(a.plan.Create) == 0 {
		return false
	}
	before, after := a.written, a.plan.Status
	return after.Active-int32(len(a.plan.Create))+after.Succeeded+after.Failed < before.Active+before.Succeeded+before.Failed
}

// deletePods deletes pods. One that cannot be deleted stays active.
func (a *applier) deletePods(ctx context.Context) error {
	if len(a.plan.Delete) == 0 {
		return nil
	}
	var kept atomic.Int32
	repair := a.repairs.Get(a.Key).Begin(a.pods, a.options.Clock.Now())
	err := apply.Each(ctx, a.plan.Delete, func(ctx context.Context, d Deletion) error {
		_, err := a.DeletePod(ctx, d.Pod, apply.Delete)
		if d.Few {
			repair.Tried(d.Pod.UID, err == nil || apiwriter.Unanswered(err), err != nil, a.options.Clock.Now())
		}
		if d.Again && err == nil {
			a.misfits.Replaced(a.Key, nodefit.NodeOf(d.Pod), a.options.Clock.Now())
		}
		if err != nil && d.Active {
			kept.Add(1)
		}
		return err
	})
	a.missed -= kept.Load()
	a.repairs.Set(a.Key, repair.Repaired)
	return err
}

// atOnce limits the creations under way for one job, and patience how many batches in
// a row may fail.
const (
	atOnce   = 16
	patience = 2
)

// createPods creates pods, in batches of 1, 2, 4 and so on. One that cannot be created
// is not active. (BJ-23)
func (a *applier) createPods(ctx context.Context) error {
	created, err := apiwriter.SlowStart(ctx, len(a.plan.Create), atOnce, patience, func(i int) error {
		err := a.CreatePod(ctx, a.plan.Create[i].Pod)
		if apply.NameTaken(err) {
			return errors.Join(err, a.nameTaken(ctx, a.plan.Create[i].Pod.Name))
		}
		return err
	})
	a.missed += int32(len(a.plan.Create) - created)
	if len(a.taken) > 0 {
		names := maps.Clone(a.reconciler.taken.Get(a.Key))
		if names == nil {
			names = map[string]bool{}
		}
		for _, name := range a.taken {
			names[name] = true
		}
		a.reconciler.taken.Set(a.Key, names)
	}
	return err
}

// nameTaken finds out whether the name of a new pod is another owner's, as when a user has
// taken a pod out of the job. Then the pod gets another one next time. (BJ-12)
func (a *applier) nameTaken(ctx context.Context, name string) error {
	found, err := a.Pods.Read(ctx, a.Key.Namespace, name)
	switch {
	case apierrors.IsNotFound(err): // it is gone by now
		return nil
	case err != nil:
		return fmt.Errorf("read pod %s, which has the name of a new one: %w", name, err)
	case metav1.IsControlledBy(found, a.job): // the cache will show it
		return nil
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.taken = append(a.taken, name)
	return nil
}

// status writes the planned status, as far as it has come true.
func (a *applier) status(ctx context.Context) error {
	if a.plan.Status == nil || a.Gone {
		return nil
	}
	status := a.plan.Status
	if a.missed != 0 {
		status = status.DeepCopy()
		status.Active -= a.missed
	}
	if sameStatus(a.written, status) {
		return nil
	}
	if err := a.WriteStatus(ctx, a.written, status); err != nil {
		return err
	}
	a.written = status
	if a.plan.StatusFirst && status.CompletionTime != nil && status.StartTime != nil {
		took := status.CompletionTime.Sub(status.StartTime.Time)
		controller.Measure(a.options.JobMetrics, func(m JobMetrics) { m.Finished(status.Phase, status.Succeeded, status.Failed, took) })
	}
	return nil
}

// lasting are the events of what may last over several reconciles.
var lasting = []string{eventTooManyActivePods, eventDuplicatePod, eventPodWithoutNode, eventPodTerminating, eventInvalidSpec}

// events records the events of the plan: those of what has come to stand in the
// status, and those of what has begun.
func (a *applier) events() {
	has := map[string]bool{}
	for _, e := range a.plan.Events {
		has[e.Reason] = true
		switch {
		case e.Lasting && !a.Begins(e.Reason, true):
		case !e.Lasting && a.written == &a.job.Status: // it was not written, and the next reconcile tells of it
		default:
			a.Event(e.Type, e.Reason, "%s", e.Message)
		}
	}
	for _, reason := range lasting {
		if !has[reason] {
			a.Begins(reason, false)
		}
	}
}

// deleteJob deletes the job, unless another one has taken its name.
func (a *applier) deleteJob(ctx context.Context) error {
	return a.DeleteOver(ctx, a.options.Workloads.BroadcastJobs(a.Key.Namespace).Delete)
}
