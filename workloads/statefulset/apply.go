// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder, w.Message = resourceStatefulSets, o.Recorder, message
	w.Records = map[rollout.PatchKind]apply.Action{
		rollout.PatchUpdateInPlace: apply.UpdateInPlace,
		rollout.PatchIdentify:      apply.Update,
	}
	w.Merge = apiwriter.TypedMerge(o.Workloads.StatefulSets)
	return w
}

// reporting says how the status of a StatefulSet reports what came of a plan.
var reporting = apply.Reporting[v1beta1.StatefulSetStatus]{
	FailedCreate: failedCreate,
	FailedUpdate: failedUpdate,
	FailedDelete: failedUpdate,
	Status:       &statuses,
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	*apply.Applier[v1beta1.StatefulSetStatus]
	snapshot *Snapshot
	set      *v1beta1.StatefulSet
	plan     *Plan
}

// begin returns the applier of a plan for a StatefulSet.
func (r *reconciler) begin(s *Snapshot, plan *Plan) *applier {
	sync := r.writer.Begin(s.Set)
	sync.Refusals, sync.Placement = s.Refused, r.options.Placement
	before, after := &s.Set.Status, cmp.Or(plan.Status, &s.Set.Status)
	return &applier{reconciler: r, Sync: sync, snapshot: s, set: s.Set, plan: plan, Applier: &apply.Applier[v1beta1.StatefulSetStatus]{
		Sync: sync, Reporting: &reporting, Plan: &plan.Plan, Status: plan.Status, Observed: before,
		// A pod that comes back under the name of one that is gone is not ready yet.
		Shrinks:  after.Replicas < before.Replicas || after.ReadyReplicas < before.ReadyReplicas,
		Selector: s.Set.Spec.Selector, Budget: r.options.Budget, Now: s.Now,
	}}
}

// apply applies the plan: revisions, before any pod refers to them; claims and pods; the status; and what is left of the history.
// One pod's failure does not stop the others.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s, plan)
	if settled, err := a.revisions(ctx); err != nil {
		return 0, a.Abandon(ctx, err)
	} else if !settled {
		return controller.Again(a.Gone), nil
	}
	if outdated, err := a.Outdated(ctx); outdated {
		return 0, err
	}
	err = errors.Join(a.resizeClaims(ctx), a.changeClaims(ctx), a.CreateClaims(ctx), a.ApplyPods(ctx, a), a.PullAhead(ctx, r.options.Jobs))
	err = errors.Join(err, a.Report(ctx), a.TruncateHistory(ctx))
	return a.RequeueAfter(), apply.WorthRetrying(err)
}

// revisions adopts and writes revisions.
func (a *applier) revisions(ctx context.Context) (settled bool, err error) {
	live := func() (metav1.Object, error) {
		return a.options.Workloads.StatefulSets(a.set.Namespace).Get(ctx, a.set.Name, metav1.GetOptions{})
	}
	if err := a.Adopt(ctx, ownerReference(a.set), live); err != nil {
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

// changeClaims changes the owners of claims.
func (a *applier) changeClaims(ctx context.Context) error {
	return a.Failed(failedUpdate, a.ChangeClaims(ctx, a.plan.PatchClaims))
}

// Delete deletes a pod, and remembers one that never ran, so that the next one waits.
func (a *applier) Delete(ctx context.Context, d *rollout.PodDeletion) (deleted bool, err error) {
	deleted, err = a.Applier.Delete(ctx, d)
	if err == nil && d.For == rollout.DeleteFailed && !podplan.HasRun(d.Pod) {
		a.places.Replaced(a.Key, d.Pod.Name, a.options.Clock.Now())
	}
	return deleted, err
}

// ownerReference says that a StatefulSet controls something.
func ownerReference(set *v1beta1.StatefulSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"))
}

// message is the text of the event about a write.
func message(o apply.Outcome) string {
	if o.Action == apply.UpdateInPlace {
		return apply.Plain(o)
	}
	what := "Pod " + o.Pod
	if o.Claim != "" {
		what = strings.TrimSpace("Claim " + o.Claim + " " + strings.TrimSuffix(what, "Pod "))
	}
	text := fmt.Sprintf("%s %s in StatefulSet %s", strings.ToLower(string(o.Action)), what, o.Workload)
	if o.Err != nil {
		return fmt.Sprintf("%s failed error: %v", text, o.Err)
	}
	return text + " successful"
}
