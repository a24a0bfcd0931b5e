// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder, w.Message = ResourceDaemonSets, o.Recorder, message
	w.Records = map[rollout.PatchKind]apply.Action{rollout.PatchUpdateInPlace: apply.UpdateInPlace}
	w.Merge = apiwriter.TypedMerge(o.Workloads.DaemonSets)
	return w
}

// statusKind says how the status of a DaemonSet reports what came of a plan.
var statusKind = apply.Kind[v1alpha1.DaemonSetStatus]{
	FailedCreate: failedCreate,
	FailedUpdate: failedUpdate,
	FailedDelete: failedUpdate,
	Ended:        ended,
	Status:       &statuses,
	Shrinks: func(before, after *v1alpha1.DaemonSetStatus) bool {
		return after.CurrentNumberScheduled < before.CurrentNumberScheduled
	},
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*apply.Applier[v1alpha1.DaemonSetStatus]
	*reconciler
	set  *v1alpha1.DaemonSet
	plan *Plan
}

// begin returns the applier of a plan for a DaemonSet.
func (r *reconciler) begin(s *Snapshot, plan *Plan) *applier {
	a := &applier{reconciler: r, set: s.Set, plan: plan, Applier: &apply.Applier[v1alpha1.DaemonSetStatus]{
		Sync: r.writer.Begin(s.Set), Kind: &statusKind, Plan: &plan.Plan, Status: plan.Status, Observed: &s.Set.Status,
		Selector: s.Set.Spec.Selector, Now: s.Now, Jobs: r.options.Jobs,
	}}
	a.Hold = func(err error) *rollout.Plan {
		held := *s
		held.Refused.Revision = err
		a.plan = NewPlan(&held)
		return &a.plan.Plan
	}
	a.Replaced, a.Taken, a.Tried, a.Refusals = a.replaced, a.nameTaken, a.tried, s.Refused
	a.AllowUpdate = a.allowUpdate
	return a
}

// allowUpdate asks the budget, and takes note that the pod is out of service from now on.
// It may be so although the write then fails, or its answer is lost. (DS-11)
func (a *applier) allowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if a.options.Budget != nil {
		if allowed, err := a.options.Budget.AllowUpdate(ctx, pod); !allowed || err != nil {
			return allowed, err
		}
	}
	if a.plan.Rollout.MaxSurge == 0 {
		a.attempts.disrupts(a.set, nodefit.NodeOf(pod))
	}
	return true, nil
}

// apply applies the plan. One pod's failure does not stop the others.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s, plan)
	r.options.SetMetrics.Counted(a.Key, cmp.Or(plan.Status, &s.Set.Status))
	if a.Begins("SelectingAll", plan.SelectsAll) {
		a.Event(corev1.EventTypeWarning, "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
	}
	requeueAfter, settled, err := a.Apply(ctx, a.adopt, []apply.Step{a.ApplyPods, a.PullAhead}, nil)
	if !settled {
		return controller.StaleRetry, nil
	}
	return requeueAfter, err
}

// adopt adopts revisions without a controller. The pods to adopt are among the
// patches; for either the DaemonSet must still exist. (DS-3)
func (a *applier) adopt(ctx context.Context) error {
	revisions := a.plan.Revisions.Adopt
	if len(revisions) > 0 || slices.ContainsFunc(a.plan.Patch, func(p rollout.PodPatch) bool { return p.Kind == rollout.PatchAdopt }) {
		if err := a.mayAdopt(ctx); err != nil {
			return err
		}
	}
	return a.AdoptRevisions(ctx, revisions, *metav1.NewControllerRef(a.set, v1alpha1.SchemeGroupVersion.WithKind(kind)))
}

// mayAdopt asks the API server itself whether the DaemonSet still exists: what
// one that is being deleted adopts would be deleted with it.
func (a *applier) mayAdopt(ctx context.Context) error {
	live, err := a.options.Workloads.DaemonSets(a.set.Namespace).Get(ctx, a.set.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("adopt pods and revisions: read the DaemonSet: %w", err)
	}
	if live.UID != a.set.UID || live.DeletionTimestamp != nil {
		return fmt.Errorf("adopt pods and revisions: the DaemonSet with UID %s is gone or being deleted", a.set.UID)
	}
	return nil
}

// replaced remembers a pod that has ended, so that the next one waits. (DS-4)
func (a *applier) replaced(pod *corev1.Pod) {
	a.reconciler.ended.Replaced(a.Key, backOffName(a.set, nodefit.NodeOf(pod)), a.options.Clock.Now())
}

// tried remembers whether the pod of a node could be created. (DS-7)
func (a *applier) tried(pod *corev1.Pod, err error) {
	a.attempts.ended(a.set, nodefit.NodeOf(pod), err)
}

// nameTaken takes note of a name that another owner's pod has, so that another one is
// tried: a pod of the node that was released, for example. (DS-7)
func (a *applier) nameTaken(ctx context.Context, c *rollout.PodCreation, _ error) error {
	pod, err := a.Kubernetes.CoreV1().Pods(a.set.Namespace).Get(ctx, c.Pod.Name, metav1.GetOptions{})
	if err == nil && !metav1.IsControlledBy(pod, a.set) { // otherwise the cache will show it
		a.attempts.taken(a.set, c.Pod.Name)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// ended is the event about a pod that has ended. (DS-4)
func ended(pod *corev1.Pod) (eventType, reason, message string) {
	eventType, reason = corev1.EventTypeWarning, "FailedDaemonPod"
	if pod.Status.Phase == corev1.PodSucceeded {
		eventType, reason = corev1.EventTypeNormal, "SucceededDaemonPod"
	}
	return eventType, reason, fmt.Sprintf("Pod %s on node %s has ended (%s) and is replaced", pod.Name, nodefit.NodeOf(pod), pod.Status.Phase)
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
