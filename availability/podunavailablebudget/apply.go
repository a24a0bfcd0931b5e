// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
)

// BudgetMetrics receives what is left of each budget. Implementations must be safe for use by several goroutines.
type BudgetMetrics interface {
	// Counted is called with the status of a budget whenever it was computed.
	Counted(namespace, budget string, status *v1alpha1.PodUnavailableBudgetStatus)
	// Gone is called when a budget no longer exists.
	Gone(namespace, budget string)
}

// ReasonPodsElsewhere is the reason of a Warning about a budget that is about pods of another one. (PUB-20)
const ReasonPodsElsewhere = v1alpha1.PodsElsewhereCondition

// newWriter returns what a Reconciler writes and records events with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.SharedStatus = true
	w.Clock = o.Clock
	w.Workloads, w.Recorder = ResourceBudgets, o.Recorder
	w.Merge = apiwriter.TypedMerge(o.Availability.PodUnavailableBudgets)
	return w
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	snapshot *Snapshot
	budget   *v1alpha1.PodUnavailableBudget
	plan     *Plan
}

// apply does what the plan says. One pod's failure does not stop the others; all
// errors are collected, so that the reconcile is repeated.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Budget), snapshot: s, budget: s.Budget, plan: plan}
	a.recordStates()
	told := a.NoteHeld(a.Key, plan.Held, s.Now)
	if plan.Computed == nil {
		return told, errors.Join(a.status(ctx), plan.Problem)
	}
	controller.Measure(r.options.BudgetMetrics, func(m BudgetMetrics) { m.Counted(a.Key.Namespace, a.Key.Name, plan.Computed) })
	err = errors.Join(apply.Each(ctx, plan.Link, a.link), apply.Each(ctx, plan.Untell, a.untell), a.status(ctx), a.mirror(ctx), s.Unknown)
	return apply.Soonest(plan.RequeueAfter, told), apply.WorthRetrying(err)
}

// link tells a pod that the budget protects it, unless it has changed: another writer may have told
// it otherwise. (PUB-24)
func (a *applier) link(ctx context.Context, pod *corev1.Pod) error {
	return a.relate(ctx, pod, &a.budget.Name)
}

// untell takes the name of the budget off a pod, unless that has changed. (PUB-47)
func (a *applier) untell(ctx context.Context, pod *corev1.Pod) error { return a.relate(ctx, pod, nil) }

// relate has a pod name a budget; nil for none.
func (a *applier) relate(ctx context.Context, pod *corev1.Pod, name *string) error {
	patch := podpatch.Patch{Annotations: map[string]*string{v1alpha1.RelatedPubAnnotation: name}, IfUnchanged: true}
	writes, err := patch.Writes(pod)
	if err != nil {
		return err
	}
	for _, w := range writes {
		if err := a.WritePod(ctx, pod, w, "write the annotation "+v1alpha1.RelatedPubAnnotation); err != nil {
			a.RecordFailure(apply.Update, err)
			return err
		}
	}
	return nil
}

// status writes the planned status, and tells then of pods that have not gone.
func (a *applier) status(ctx context.Context) error {
	if a.plan.Status == nil {
		return nil
	}
	if err := a.WriteStatus(ctx, &a.budget.Status, a.plan.Status); err != nil || a.Gone || a.Recorder == nil {
		return err
	}
	for _, pod := range a.plan.NotDeleted {
		a.Recorder.Eventf(pod, corev1.EventTypeWarning, v1alpha1.NotDeletedEvent, v1alpha1.NotDeletedFormat, a.Key.Namespace, a.Key.Name)
	}
	return nil
}

// recordStates records what holds of the budget from now on.
func (a *applier) recordStates() {
	if a.Begins(v1alpha1.NoPodsEvent, a.plan.Computed != nil && a.plan.NoPods) {
		a.Event(corev1.EventTypeNormal, v1alpha1.NoPodsEvent, "%s", v1alpha1.NoPodsMessage)
	}
	if a.Begins(v1alpha1.CalculateExpectedPodCountFailedEvent, a.plan.Problem != nil) {
		a.Event(corev1.EventTypeWarning, v1alpha1.CalculateExpectedPodCountFailedEvent, v1alpha1.CalculateExpectedPodCountFailedFormat, a.plan.Problem)
	}
	if n := len(a.plan.Elsewhere); a.plan.Computed != nil && a.Begins(ReasonPodsElsewhere, n > 0) {
		pod := a.plan.Elsewhere[0]
		a.Event(corev1.EventTypeWarning, ReasonPodsElsewhere, "Pods such as %s belong to PodUnavailableBudget %s and do not count here", pod.Name, relatedTo(pod))
	}
	if a.plan.Computed != nil && a.Begins(ReasonNotMirrored, a.plan.Unmirrored != "") {
		a.Event(corev1.EventTypeWarning, ReasonNotMirrored, "No PodDisruptionBudget shows it: %s", a.plan.Unmirrored)
	}
}
