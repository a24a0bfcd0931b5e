// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// SetMetrics receives how far DaemonSets have come. Implementations must be safe
// for use by several goroutines.
type SetMetrics interface {
	// Counted is called in every reconcile of a DaemonSet with its status, which the
	// implementation must not change.
	Counted(set types.NamespacedName, status *v1alpha1.DaemonSetStatus)
	// Gone is called when a DaemonSet does not exist any more.
	Gone(set types.NamespacedName)
}

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder, w.Message = resourceDaemonSets, o.Recorder, message
	w.Records = map[rollout.PatchKind]apply.Action{rollout.PatchUpdateInPlace: apply.UpdateInPlace}
	w.Merge = apiwriter.TypedMerge(o.Workloads.DaemonSets)
	return w
}

// reporting says how the status of a DaemonSet reports what came of a plan.
var reporting = apply.Reporting[v1alpha1.DaemonSetStatus]{
	FailedCreate: failedCreate,
	FailedUpdate: failedUpdate,
	FailedDelete: failedUpdate,
	Status:       &statuses,
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	*apply.Applier[v1alpha1.DaemonSetStatus]
	snapshot *Snapshot
	set      *v1alpha1.DaemonSet
	plan     *Plan
}

// begin returns the applier of a plan for a DaemonSet.
func (r *reconciler) begin(s *Snapshot, plan *Plan) *applier {
	sync := r.writer.Begin(s.Set)
	sync.Refusals = s.Refused
	return &applier{reconciler: r, Sync: sync, snapshot: s, set: s.Set, plan: plan, Applier: &apply.Applier[v1alpha1.DaemonSetStatus]{
		Sync: sync, Reporting: &reporting, Plan: &plan.Plan, Status: plan.Status, Observed: &s.Set.Status,
		Shrinks:  cmp.Or(plan.Status, &s.Set.Status).CurrentNumberScheduled < s.Set.Status.CurrentNumberScheduled,
		Selector: s.Set.Spec.Selector, Budget: r.options.Budget, Now: s.Now,
	}}
}

// apply applies the plan: revisions, before any pod refers to them; pods; the status; and what is left of the history.
// One pod's failure does not stop the others.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s, plan)
	controller.Measure(r.options.SetMetrics, func(m SetMetrics) { m.Counted(a.Key, cmp.Or(plan.Status, &s.Set.Status)) })
	if a.Begins("SelectingAll", plan.SelectsAll) {
		a.Event(corev1.EventTypeWarning, "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
	}
	if settled, err := a.revisions(ctx); err != nil {
		return 0, a.Abandon(ctx, err)
	} else if !settled {
		return controller.Again(a.Gone), nil
	}
	if outdated, err := a.Outdated(ctx); outdated {
		return 0, err
	}
	err = errors.Join(a.ApplyPods(ctx, a), a.PullAhead(ctx, r.options.Jobs), a.Report(ctx), a.TruncateHistory(ctx))
	return a.RequeueAfter(), apply.WorthRetrying(err)
}

// revisions adopts and writes revisions. (DS-3)
func (a *applier) revisions(ctx context.Context) (settled bool, err error) {
	live := func() (metav1.Object, error) {
		return a.options.Workloads.DaemonSets(a.set.Namespace).Get(ctx, a.set.Name, metav1.GetOptions{})
	}
	if err := a.Adopt(ctx, *metav1.NewControllerRef(a.set, v1alpha1.SchemeGroupVersion.WithKind(kind)), live); err != nil {
		return false, err
	}
	return a.WriteOrHold(ctx, a.planWithout)
}

// planWithout plans anew, without the update revision that the API server refuses. (CT-9)
func (a *applier) planWithout(refused error) *rollout.Plan {
	held := *a.snapshot
	held.Refused.Revision = refused
	a.plan = NewPlan(&held)
	return &a.plan.Plan
}

// Create creates the pod of a node, and remembers whether it could. (DS-7)
func (a *applier) Create(ctx context.Context, c *rollout.PodCreation) error {
	err := a.Applier.Create(ctx, c)
	a.attempts.ended(a.set, nodefit.NodeOf(c.Pod), err)
	if apply.NameTaken(err) {
		return errors.Join(err, a.nameTaken(ctx, c.Pod.Name))
	}
	return err
}

// nameTaken takes note of a name that another owner's pod has, so that another one is
// tried. A pod of the node that was released has it, for example. (DS-7)
func (a *applier) nameTaken(ctx context.Context, name string) error {
	pod, err := a.Kubernetes.CoreV1().Pods(a.set.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err == nil && !metav1.IsControlledBy(pod, a.set) { // otherwise the cache will show it
		a.attempts.taken(a.set, name)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Delete deletes a pod. An event tells of one that has ended, which is remembered, so that the next one waits. (DS-4)
func (a *applier) Delete(ctx context.Context, d *rollout.PodDeletion) (deleted bool, err error) {
	if d.For == rollout.DeleteForUpdate {
		a.disrupts(d.Pod)
	}
	if d.For != rollout.DeleteFailed {
		return a.Remove(ctx, d)
	}
	a.recordEnded(d.Pod)
	if deleted, err = a.Remove(ctx, d); err == nil {
		a.ended.Replaced(a.Key, backOffName(a.set, nodefit.NodeOf(d.Pod)), a.options.Clock.Now())
	}
	return deleted, err
}

// Patch sends a patch of a pod.
func (a *applier) Patch(ctx context.Context, p *rollout.PodPatch) error {
	if p.ForUpdate && !p.InService {
		a.disrupts(p.Pod)
	}
	return a.Applier.Patch(ctx, p)
}

// disrupts takes note that an update takes a pod out of service. It may be so although the write then fails, or its answer is
// lost. (DS-11)
func (a *applier) disrupts(pod *corev1.Pod) {
	if a.plan.Rollout.MaxSurge == 0 {
		a.attempts.disrupts(a.set, nodefit.NodeOf(pod))
	}
}

// recordEnded records the event about a pod that has ended. (DS-4)
func (a *applier) recordEnded(pod *corev1.Pod) {
	eventType, reason := corev1.EventTypeWarning, "FailedDaemonPod"
	if pod.Status.Phase == corev1.PodSucceeded {
		eventType, reason = corev1.EventTypeNormal, "SucceededDaemonPod"
	}
	a.Event(eventType, reason, "Pod %s on node %s has ended (%s) and is replaced", pod.Name, nodefit.NodeOf(pod), pod.Status.Phase)
}

// message is the text of the event about a write, that of the DaemonSets of Kubernetes
// if those have such an event.
func message(o apply.Outcome) string {
	switch {
	case o.Action == apply.Create && o.Err != nil:
		return fmt.Sprintf("Error creating: %v", o.Err)
	case o.Action == apply.Create:
		return "Created pod: " + o.Pod
	case o.Action == apply.Delete && o.Err != nil:
		return fmt.Sprintf("Error deleting: %v", o.Err)
	case o.Action == apply.Delete:
		return "Deleted pod: " + o.Pod
	}
	return apply.Plain(o)
}
