// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
)

// SpreadMetrics receives how the pods of each workload are spread. Implementations must be safe for
// use by several goroutines.
type SpreadMetrics interface {
	// Counted is called with the status of a WorkloadSpread whenever it was computed.
	Counted(namespace, spread string, status *v1alpha1.WorkloadSpreadStatus)
	// Gone is called when a WorkloadSpread no longer exists.
	Gone(namespace, spread string)
}

// newWriter returns what a Reconciler writes and records events with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.SharedStatus = true
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourceSpreads, o.Recorder
	w.Merge = apiwriter.TypedMerge(o.Distribution.WorkloadSpreads)
	return w
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	snapshot *Snapshot
	spread   *v1alpha1.WorkloadSpread
	plan     *Plan
	// refused are the names of the pods that could not be taken to their subsets.
	refused sync.Map
}

// apply does what the plan says. One pod's failure does not stop the others; all
// errors are collected, so that the reconcile is repeated. Pods are deleted only once the status is
// written by which new ones are sent elsewhere. (WS-23)
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Spread), snapshot: s, spread: s.Spread, plan: plan}
	if a.Begins(v1alpha1.TargetReferenceErrorEvent, plan.Unrecognized) {
		a.Event(corev1.EventTypeWarning, v1alpha1.TargetReferenceErrorEvent, "%s", v1alpha1.TargetReferenceErrorMessage)
	}
	told := a.NoteHeld(a.Key, plan.Held, s.Now)
	if plan.Computed == nil {
		return told, errors.Join(a.status(ctx), rollout.ErrorOf(plan.Problems))
	}
	controller.Measure(r.options.SpreadMetrics, func(m SpreadMetrics) { m.Counted(a.Key.Namespace, a.Key.Name, &plan.Computed.Status) })
	err = apply.Each(ctx, plan.Patches, a.patch)
	if statusErr := a.status(ctx); statusErr != nil {
		return 0, apply.WorthRetrying(err, statusErr)
	}
	if !a.Gone {
		err = errors.Join(err, a.deletions(ctx))
	}
	return apply.Soonest(plan.RequeueAfter, told), apply.WorthRetrying(err)
}

// patch writes a pod. (WS-14, WS-15)
func (a *applier) patch(ctx context.Context, p PodPatch) error {
	patch := p.patch()
	writes, err := patch.Writes(p.Pod)
	for _, w := range writes {
		if err == nil {
			err = a.WritePod(ctx, p.Pod, w, "write the subset and the deletion cost")
		}
	}
	if err != nil && p.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] != nil {
		a.refused.Store(p.Pod.Name, true)
	}
	switch cost := p.Annotations[corev1.PodDeletionCost]; {
	case err == nil, apierrors.IsConflict(err): // or it waits, since another writer takes it back (CT-12)
	case cost != nil:
		a.Event(corev1.EventTypeWarning, v1alpha1.PatchPodDeletionCostFailedEvent, v1alpha1.PatchPodDeletionCostFailedFormat+": %v",
			a.Key.Namespace, a.Key.Name, *cost, p.Pod.Namespace, p.Pod.Name, p.Subset, err)
	default:
		a.RecordFailure(apply.Update, err)
	}
	return err
}

func (a *applier) isRefused(pod string) bool {
	_, refused := a.refused.Load(pod)
	return refused
}

// status writes the planned status, and tells then which subsets pods are sent to again. (WS-18)
func (a *applier) status(ctx context.Context) error {
	if a.plan.Status == nil {
		return nil
	}
	if err := a.WriteStatus(ctx, &a.spread.Status, a.plan.Status); err != nil || a.Gone {
		return err
	}
	if a.plan.Computed == nil {
		return nil
	}
	for _, subset := range a.plan.Recovered {
		a.Event(corev1.EventTypeNormal, v1alpha1.RecoverSchedulableEvent, v1alpha1.RecoverSchedulableFormat, subset, a.Key.Namespace, a.Key.Name)
	}
	return nil
}

// deletions deletes as many pods as may go at once. Those that could not be deleted before come last, so that they hold back no others. (WS-36)
func (a *applier) deletions(ctx context.Context) error {
	if len(a.plan.Deletions) == 0 {
		return nil
	}
	var order, last []spread.Deletion
	for _, d := range a.plan.Deletions {
		switch {
		case slices.ContainsFunc(d.After, a.isRefused):
		case a.snapshot.NotMoved[d.Pod.UID]:
			last = append(last, d)
		default:
			order = append(order, d)
		}
	}
	order = append(order, last...)
	repair := a.moves.Get(a.Key).Begin(a.snapshot.Pods, a.options.Clock.Now())
	err := apply.Each(ctx, order[:min(a.plan.MayDelete, len(order))], func(ctx context.Context, d spread.Deletion) error {
		err := a.delete(ctx, d)
		repair.Tried(d.Pod.UID, err == nil || apiwriter.Unanswered(err), err != nil, a.options.Clock.Now())
		return err
	})
	a.moves.Set(a.Key, repair.Repaired)
	return err
}

// delete deletes a pod, unless it has changed: it may have been scheduled. (WS-17, WS-19)
func (a *applier) delete(ctx context.Context, d spread.Deletion) error {
	version, err := a.Pods.DeleteUnchanged(ctx, d.Pod)
	if err != nil {
		if !apierrors.IsConflict(err) { // else it is looked at again
			a.Event(corev1.EventTypeWarning, v1alpha1.DeletePodFailedEvent, v1alpha1.DeletePodFailedFormat+": %v",
				d.Pod.Namespace, d.Pod.Name, d.Subset, a.Key.Namespace, a.Key.Name, err)
		}
		return fmt.Errorf("delete pod %s: %w", d.Pod.Name, a.Unanswered(resourcePods, d.Pod.Name, err))
	}
	if version == "" { // another client has deleted it
		return nil
	}
	a.Wrote(resourcePods, version)
	a.Event(corev1.EventTypeNormal, v1alpha1.ReschedulePodEvent, "Deleted pod %s/%s of subset %s: %s", d.Pod.Namespace, d.Pod.Name, d.Subset, d.Why)
	return nil
}
