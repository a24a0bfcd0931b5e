// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"cmp"
	"context"
	"encoding/json"
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
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// SetMetrics receives how far SidecarSets have come. Implementations must be safe for use by several goroutines.
type SetMetrics interface {
	// Counted is called in every reconcile of a SidecarSet with its status, which the implementation must not change.
	// NotInjected is how many pods it selects that were created without its containers.
	Counted(set string, status *v1alpha1.SidecarSetStatus, notInjected int)
	// Gone is called when a SidecarSet does not exist any more.
	Gone(set string)
}

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder, w.RevisionNamespace = resourceSidecarSets, o.Recorder, o.namespace()
	// A reset changes the second alone.
	w.VersionedBy = []string{v1alpha1.SidecarSetHashAnnotation, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation}
	// A hot upgrade notes versions on a pod.
	w.Keeps = []string{v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, v1alpha1.SidecarSetVersionAnnotationPrefix, v1alpha1.SidecarSetVersionAltAnnotationPrefix}
	w.Merge = apiwriter.TypedMerge(func(string) client.SidecarSetInterface { return o.Sidecar.SidecarSets() })
	return w
}

// reporting says how the status of a SidecarSet reports what came of a plan.
var reporting = apply.Reporting[v1alpha1.SidecarSetStatus]{
	FailedCreate: failedUpdate,
	FailedUpdate: failedUpdate,
	FailedDelete: failedUpdate,
	Status:       &statuses,
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	*apply.Applier[v1alpha1.SidecarSetStatus]
	set  *v1alpha1.SidecarSet
	plan *Plan
}

// begin returns the applier of a plan for a SidecarSet.
func (r *reconciler) begin(s *Snapshot, plan *Plan) *applier {
	sync := r.writer.Begin(s.Set)
	sync.Refusals = s.Refused
	return &applier{reconciler: r, Sync: sync, set: s.Set, plan: plan, Applier: &apply.Applier[v1alpha1.SidecarSetStatus]{
		Sync: sync, Reporting: &reporting, Plan: &plan.Plan, Status: plan.Status, Observed: &s.Set.Status, Budget: r.options.Budget, Now: s.Now,
	}}
}

// apply applies the plan: the revision, before any pod refers to it; pods; the status; and what is left of the history.
// One pod's failure does not stop the others.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s, plan)
	controller.Measure(r.options.SetMetrics, func(m SetMetrics) { m.Counted(a.Key.Name, cmp.Or(plan.Status, &s.Set.Status), len(plan.NotInjected)) })
	if settled, err := a.WriteRevisions(ctx); err != nil {
		return 0, a.Abandon(ctx, err)
	} else if !settled {
		return controller.Again(a.Gone), nil
	}
	err = errors.Join(a.labelRevision(ctx), a.ApplyPods(ctx, a), a.Report(ctx))
	a.recordEvents()
	return a.RequeueAfter(), apply.WorthRetrying(err, a.TruncateHistory(ctx))
}

// labelRevision gives the latest revision the custom version of the SidecarSet. (SCS-R4)
func (a *applier) labelRevision(ctx context.Context) error {
	revision := a.plan.Revisions.Update
	if a.plan.CustomVersion == "" || revision == nil {
		return nil
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": revision.UID, "labels": map[string]string{v1alpha1.SidecarSetCustomVersionLabel: a.plan.CustomVersion}}})
	if err != nil {
		return fmt.Errorf("label ControllerRevision %s: %w", revision.Name, err)
	}
	return a.PutBack("ControllerRevision "+revision.Name, apply.Wanted(data), func() error { return a.sendLabel(ctx, revision.Name, data) })
}

func (a *applier) sendLabel(ctx context.Context, revision string, data []byte) error {
	labelled, err := a.Kubernetes.AppsV1().ControllerRevisions(a.RevisionNamespace).Patch(ctx, revision, types.MergePatchType, data, metav1.PatchOptions{})
	if err != nil {
		err = fmt.Errorf("label ControllerRevision %s with custom version %s: %w", revision, a.plan.CustomVersion, err)
		a.RecordFailure(apply.Update, err)
		return err
	}
	a.Wrote(resourceRevisions, labelled.ResourceVersion)
	return nil
}

// Patch sends a patch of a pod, and records on the pod what came of it.
func (a *applier) Patch(ctx context.Context, patch *rollout.PodPatch) error {
	err := a.Applier.Patch(ctx, patch)
	a.recordPatch(patch, err)
	return err
}

// recordPatch records on a pod that its hot container was emptied, or why not; and which annotations its update could not
// merge. (SCS-W8)
func (a *applier) recordPatch(patch *rollout.PodPatch, err error) {
	if a.Recorder == nil || apierrors.IsConflict(err) {
		return
	}
	if patch.Kind != PatchReset {
		for _, kept := range a.plan.NotMerged {
			if kept.Pod == patch.Pod && err == nil {
				a.Recorder.Event(patch.Pod, corev1.EventTypeWarning, eventNotMerged, apiwriter.Short(kept.Reason.Message))
			}
		}
		return
	}
	if err != nil {
		a.Recorder.Eventf(patch.Pod, corev1.EventTypeWarning, v1alpha1.SidecarSetEventResetFailed, "reset sidecar container image empty failed: %v", err)
		return
	}
	a.Recorder.Event(patch.Pod, corev1.EventTypeNormal, v1alpha1.SidecarSetEventResetSucceeded, "reset sidecar container image empty successfully")
}

// recordEvents records the events of the plan, once its status is written.
func (a *applier) recordEvents() {
	if a.Version == a.set.ResourceVersion {
		return
	}
	for _, e := range a.plan.Events {
		a.Event(e.Type, e.Reason, "%s", e.Message)
	}
}
