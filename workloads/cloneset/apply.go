// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder, w.GeneratedNames = ResourceCloneSets, o.Recorder, true
	w.IdentifiedBy = []string{v1alpha1.CloneSetInstanceIDLabel}
	w.Records = map[rollout.PatchKind]apply.Action{rollout.PatchUpdateInPlace: apply.UpdateInPlace}
	w.Merge = apiwriter.TypedMerge(o.Workloads.CloneSets)
	return w
}

// reporting says how the status of a CloneSet reports what came of a plan.
var reporting = apply.Reporting[v1alpha1.CloneSetStatus]{
	FailedCreate: failedScale,
	FailedUpdate: failedUpdate,
	FailedDelete: failedScale,
	Recreates:    true,
	Status:       &statuses,
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	*apply.Applier[v1alpha1.CloneSetStatus]
	snapshot *Snapshot
	set      *v1alpha1.CloneSet
	plan     *Plan
	reusedBy string // see reconciler.reusedBy
	tried    attempts
}

// begin returns the applier of a plan for a CloneSet.
func (r *reconciler) begin(s *Snapshot, plan *Plan) *applier {
	sync := r.writer.Begin(s.Set)
	sync.Refusals, sync.Placement = s.Refused, r.options.Placement
	a := &applier{reconciler: r, Sync: sync, snapshot: s, set: s.Set, plan: plan, reusedBy: r.reusedBy(s.Now), Applier: &apply.Applier[v1alpha1.CloneSetStatus]{
		Sync: sync, Reporting: &reporting, Plan: &plan.Plan, Status: plan.Status, Observed: &s.Set.Status,
		Selector: s.Set.Spec.Selector, Budget: r.options.Budget, Now: s.Now,
	}}
	if len(plan.Create) > 0 {
		a.Uncreated = withoutUncreated(s, plan, cmp.Or(plan.Status, a.Observed), plan.Create)
		a.Shrinks = a.Uncreated.Replicas < a.Observed.Replicas
	}
	return a
}

// apply applies the plan: revisions, before any pod refers to them; claims and pods; the status; and what is left of the history.
// One pod's failure does not stop the others.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s, plan)
	defer r.rememberUnused(s, &a.tried)
	if settled, err := a.WriteOrHold(ctx, a.planWithout); err != nil {
		return 0, a.Abandon(ctx, err)
	} else if !settled {
		return controller.Again(a.Gone), nil
	}
	if outdated, err := a.Outdated(ctx); outdated {
		return 0, err
	}
	err = errors.Join(a.disownClaims(ctx), a.CreateClaims(ctx), a.applyPods(ctx), a.PullAhead(ctx, r.options.Jobs))
	a.uncount()
	err = errors.Join(err, a.Report(ctx), a.prune(ctx), a.TruncateHistory(ctx))
	return a.RequeueAfter(), apply.WorthRetrying(err)
}

// planWithout plans anew, without the update revision that the API server refuses. (CT-9)
func (a *applier) planWithout(refused error) *rollout.Plan {
	held := *a.snapshot
	held.Refused.Revision = refused
	a.plan = NewPlan(&held)
	return &a.plan.Plan
}

// applyPods applies the stages of the plan, and records an event when
// scaleStrategy.maxUnavailable begins to hold pods back. (CS-16)
func (a *applier) applyPods(ctx context.Context) error {
	if d := a.plan.Diff; a.Begins("ScaleUpLimited", d.Create < d.ScaleUp) {
		a.Event(corev1.EventTypeWarning, "ScaleUpLimited", "%d of %d missing pods are created now, scaleStrategy.maxUnavailable holds back the others",
			d.Create, d.ScaleUp)
	}
	return a.ApplyPods(ctx, a)
}

// uncount has the status not count the pods that could not be created.
func (a *applier) uncount() {
	if missed := a.tried.missed(a.plan.Create); len(missed) > 0 && !a.Held() {
		a.SetStatus(withoutUncreated(a.snapshot, a.plan, cmp.Or(a.Status, a.Observed), missed))
	}
}

// Create creates a pod. If its name or that of one of its claims is taken, it cannot be the one of its instance.
func (a *applier) Create(ctx context.Context, c *rollout.PodCreation) error {
	err := a.create(ctx, c)
	if apply.NameTaken(err) {
		return errors.Join(err, a.nameTaken(ctx, c, err)) // taken it is, also if nothing could be done about it
	}
	a.tried.note(c.Pod, err)
	return err
}

func (a *applier) create(ctx context.Context, c *rollout.PodCreation) error {
	if err := a.CreateClaimsOf(ctx, c); err != nil {
		return err
	}
	if err := a.noteReuse(ctx, c); err != nil {
		return err
	}
	return a.CreatePod(ctx, c.Pod)
}

// Delete deletes a pod, and then its claims. (CS-24)
func (a *applier) Delete(ctx context.Context, d *rollout.PodDeletion) (deleted bool, err error) {
	deleted, err = a.Applier.Delete(ctx, d)
	if err != nil || !deleted { // a new pod of its name may mount the claims
		return deleted, err
	}
	var errs []error
	for _, claim := range d.DeleteClaims {
		errs = append(errs, a.deleteClaim(ctx, claim))
	}
	return true, errors.Join(errs...)
}

// prune drops the names of pods that are gone from podsToDelete.
func (a *applier) prune(ctx context.Context) error {
	if !a.plan.PrunePodsToDelete {
		return nil
	}
	data, err := json.Marshal(map[string]any{
		"metadata": apply.Observed{UID: a.set.UID, ResourceVersion: a.Version},
		"spec":     map[string]any{"scaleStrategy": map[string]any{"podsToDelete": a.plan.PodsToDelete}},
	})
	if err != nil {
		return err
	}
	version, err := a.Merge(ctx, a.Key, data)
	if err != nil {
		return fmt.Errorf("prune spec.scaleStrategy.podsToDelete: %w", err)
	}
	a.Wrote(ResourceCloneSets, version)
	return nil
}
