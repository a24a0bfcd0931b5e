package cloneset

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Workloads, w.Recorder, w.GeneratedNames = ResourceCloneSets, o.Recorder, true
	w.Tells = map[rollout.PatchKind]apply.Deed{rollout.PatchUpdateInPlace: apply.UpdateInPlace}
	w.NewestWorkload = func(ctx context.Context, namespace string) (string, error) {
		list, err := o.Workloads.CloneSets(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return "", err
		}
		return list.ResourceVersion, nil
	}
	w.PatchStatus = func(ctx context.Context, key types.NamespacedName, data []byte) (string, error) {
		return patchSet(ctx, o.Workloads, key, data, "status")
	}
	return w
}

// patchSet sends a merge patch of a CloneSet, and returns the version of the write.
func patchSet(ctx context.Context, c client.Interface, key types.NamespacedName, data []byte, subresources ...string) (string, error) {
	set, err := c.CloneSets(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return "", err
	}
	return set.ResourceVersion, nil
}

// applier carries out one plan. Every write goes through it.
type applier struct {
	*Reconciler
	*apply.Pass
	set  *v1alpha1.CloneSet
	plan *Plan
	gate budgetGate
	// claims are those of the CloneSet, as they were observed.
	claims []*corev1.PersistentVolumeClaim
	// stored is the status as it was observed, or written by this pass.
	stored *v1alpha1.CloneSetStatus
	// failures collects what to report in the status, besides the errors that
	// make the pass be repeated.
	failures apply.Failures
}

// begin returns the applier of a plan for a CloneSet.
func (r *Reconciler) begin(set *v1alpha1.CloneSet, plan *Plan) *applier {
	return &applier{Reconciler: r, Pass: r.writer.Begin(set), set: set, plan: plan, gate: budgetGate{budget: r.budget}, stored: &set.Status}
}

// apply carries the plan out. One pod's failure does not stop the others; all
// errors are collected, so that the pass is repeated.
func (r *Reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s.Set, plan)
	a.claims, a.Taken = s.Claims, a.nameTaken
	settled, err := a.PrepareRevisions(ctx, &plan.Revisions, s.Set.Spec.Selector, a.collided)
	if err != nil {
		_ = a.failures.Add(failedUpdate, err)
		return 0, apply.WorthRetrying(err, a.status(ctx, s, nil))
	}
	if !settled {
		return controller.StaleRetry, nil
	}
	if outdated, err := a.outdated(ctx, s); outdated {
		return 0, apply.WorthRetrying(err)
	}
	var errs []error
	for _, step := range []func(context.Context) error{a.letClaimsGo, a.createClaims, a.movePods, a.preDownload} {
		errs = append(errs, step(ctx))
	}
	errs = append(errs, a.status(ctx, s, plan.Status), a.prune(ctx), a.DeleteRevisions(ctx, plan.Revisions.Delete))
	requeueAfter = plan.RequeueAfter
	if a.gate.refused && (requeueAfter == 0 || requeueAfter > budgetRetry) {
		requeueAfter = budgetRetry
	}
	return requeueAfter, apply.WorthRetrying(errs...)
}

// outdated finds out whether the CloneSet is gone or another one by now, where
// pods that its status counts are gone and would be created again. The garbage
// collector deletes the pods of a CloneSet after it, and the caches may show
// that the other way round. It costs no request to write the status before
// anything else, which is due anyway; where that fails for another reason, the
// pass goes on and tries again at its end.
func (a *applier) outdated(ctx context.Context, s *Snapshot) (bool, error) {
	status := a.plan.Status
	if len(a.plan.Create) == 0 || status == nil || status.Replicas >= a.set.Status.Replicas {
		return false, nil
	}
	err := a.status(ctx, s, status)
	return a.Gone || apierrors.IsConflict(err), err
}

// collided counts one collision of revision names more. (CS-CR5)
func (a *applier) collided(ctx context.Context) error {
	status := a.set.Status.DeepCopy()
	status.CollisionCount = ptr.To(ptr.Deref(status.CollisionCount, 0) + 1)
	return a.WriteStatus(ctx, &a.set.Status, status)
}

// status writes the planned status, nil where the present one stands, and what
// went wrong since.
func (a *applier) status(ctx context.Context, s *Snapshot, status *v1alpha1.CloneSetStatus) error {
	if len(a.failures) > 0 {
		if status == nil {
			status = a.stored
		}
		status = status.DeepCopy()
		problems := append(a.failures, a.plan.Problems...)
		status.Conditions = conditionsOf(a.set.Status.Conditions, problems, s.Now)
		if sameStatus(a.stored, status) {
			status = nil
		}
	}
	if status == nil || status == a.stored {
		return nil
	}
	if err := a.WriteStatus(ctx, a.stored, status); err != nil {
		return err
	}
	a.stored = status
	return nil
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
	version, err := patchSet(ctx, a.workloads, a.Key, data)
	if err != nil {
		return fmt.Errorf("prune spec.scaleStrategy.podsToDelete: %w", err)
	}
	a.Wrote(ResourceCloneSets, version)
	return nil
}
