// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"encoding/json"
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

// statusKind says how the status of a CloneSet reports what came of a plan.
var statusKind = apply.Kind[v1alpha1.CloneSetStatus]{
	FailedCreate: failedScale,
	FailedUpdate: failedUpdate,
	FailedDelete: failedScale,
	Recreates:    true,
	Status:       &statuses,
	Shrinks:      func(before, after *v1alpha1.CloneSetStatus) bool { return after.Replicas < before.Replicas },
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*apply.Applier[v1alpha1.CloneSetStatus]
	*reconciler
	set  *v1alpha1.CloneSet
	plan *Plan
	// claims are those of the CloneSet, as they were observed.
	claims []*corev1.PersistentVolumeClaim
	unused attempts
}

// begin returns the applier of a plan for a CloneSet.
func (r *reconciler) begin(s *Snapshot, plan *Plan) *applier {
	a := &applier{reconciler: r, set: s.Set, plan: plan, claims: s.Claims, Applier: &apply.Applier[v1alpha1.CloneSetStatus]{
		Sync: r.writer.Begin(s.Set), Kind: &statusKind, Plan: &plan.Plan, Status: plan.Status, Observed: &s.Set.Status,
		Selector: s.Set.Spec.Selector, Now: s.Now, Jobs: r.options.Jobs,
	}}
	a.Taken, a.Refusals = a.nameTaken, s.Refused
	a.Hold = func(err error) *rollout.Plan {
		held := *s
		held.Refused.Revision = err
		a.plan = NewPlan(&held)
		return &a.plan.Plan
	}
	a.Uncreated = func(status *v1alpha1.CloneSetStatus, pods []rollout.PodCreation) *v1alpha1.CloneSetStatus {
		return withoutUncreated(s.Set, a.plan, status, pods, s.Now)
	}
	if s.Set.Spec.ScaleStrategy.DisablePVCReuse && len(s.Set.Spec.VolumeClaimTemplates) > 0 {
		a.Attempted = a.unused.note
	}
	a.Reused, a.ReuseNote = a.reused, v1alpha1.CloneSetClaimReusedAnnotation
	if r.options.Budget != nil {
		a.AllowUpdate = r.options.Budget.AllowUpdate
	}
	if r.options.Placement != nil {
		a.Place = r.options.Placement.PlacePod
	}
	return a
}

// apply applies the plan. One pod's failure does not stop the others.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s, plan)
	defer r.rememberUnused(s, &a.unused)
	requeueAfter, settled, err := a.Apply(ctx, nil, []apply.Step{a.disownClaims, a.CreateClaims, a.applyPods, a.PullAhead}, a.prune)
	if !settled {
		return controller.StaleRetry, nil
	}
	return requeueAfter, err
}

// applyPods applies the stages of the plan, and records an event when
// scaleStrategy.maxUnavailable begins to hold pods back. (CS-16)
func (a *applier) applyPods(ctx context.Context) error {
	if d := a.plan.Diff; a.Begins("ScaleUpLimited", d.Create < d.ScaleUp) {
		a.Event(corev1.EventTypeWarning, "ScaleUpLimited", "%d of %d missing pods are created now, scaleStrategy.maxUnavailable holds back the others",
			d.Create, d.ScaleUp)
	}
	return a.ApplyPods(ctx)
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
