package cloneset

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/parallel"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// parallelWrites limits the requests under way for one CloneSet.
const parallelWrites = 16

// applier carries out one plan. Every write goes through it.
type applier struct {
	*Reconciler
	set  *v1alpha1.CloneSet
	key  types.NamespacedName
	plan *Plan
	gate budgetGate
	// failures collects what to report in the status, besides the errors that
	// make the pass be repeated.
	failures []Problem
}

// apply carries out the plan. One pod's failure does not stop the others; all
// errors are collected, so that the pass is repeated.
func (r *Reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{
		Reconciler: r, set: s.Set, plan: plan, gate: budgetGate{budget: r.budget},
		key: types.NamespacedName{Namespace: s.Set.Namespace, Name: s.Set.Name},
	}
	if settled, err := a.revisions(ctx); !settled || err != nil {
		return staleRetry, err
	}
	var errs []error
	for _, step := range []func(context.Context) error{a.claims, a.deletePods, a.patchPods, a.createPods, a.preDownload} {
		errs = append(errs, step(ctx))
	}
	errs = append(errs, a.status(ctx, s), a.prune(ctx), a.history(ctx))
	requeueAfter = plan.RequeueAfter
	if a.gate.refused.Load() && (requeueAfter == 0 || requeueAfter > budgetRetry) {
		requeueAfter = budgetRetry
	}
	return requeueAfter, errors.Join(errs...)
}

// revisions writes the update revision, before any pod refers to it. It
// returns false when the revision turned out to be another one than planned. (CR5)
func (a *applier) revisions(ctx context.Context) (settled bool, err error) {
	revisions := a.kubernetes.AppsV1().ControllerRevisions(a.set.Namespace)
	if wanted := a.plan.CreateRevision; wanted != nil {
		created, err := revisions.Create(ctx, wanted, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return false, a.revisionExists(ctx, wanted)
		}
		if err != nil {
			return false, fmt.Errorf("create ControllerRevision %s: %w", wanted.Name, err)
		}
		a.wrote(ResourceRevisions, created)
	}
	if raise := a.plan.RaiseRevision; raise != nil {
		data := fmt.Appendf(nil, `{"metadata":{"uid":%q},"revision":%d}`, raise.UID, a.plan.RaiseTo)
		raised, err := revisions.Patch(ctx, raise.Name, types.MergePatchType, data, metav1.PatchOptions{})
		if err != nil {
			return false, fmt.Errorf("raise ControllerRevision %s to %d: %w", raise.Name, a.plan.RaiseTo, err)
		}
		a.wrote(ResourceRevisions, raised)
	}
	return true, nil
}

// revisionExists looks at the revision that has the name already. With the
// same content it will be found in the next pass. With another content two
// templates have the same hash: the next pass counts one collision more.
func (a *applier) revisionExists(ctx context.Context, wanted *appsv1.ControllerRevision) error {
	found, err := a.kubernetes.AppsV1().ControllerRevisions(wanted.Namespace).Get(ctx, wanted.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read ControllerRevision %s, which exists already: %w", wanted.Name, err)
	}
	equal, err := revision.Equal(found, wanted)
	if err != nil {
		return err
	}
	owner := metav1.GetControllerOf(found)
	if equal && (owner == nil || owner.UID == a.set.UID) {
		a.wrote(ResourceRevisions, found)
		return nil
	}
	status := a.set.Status.DeepCopy()
	count := int32(1)
	if status.CollisionCount != nil {
		count = *status.CollisionCount + 1
	}
	status.CollisionCount = &count
	return a.writeStatus(ctx, status)
}

// claims lets go of claims whose pods are gone.
func (a *applier) claims(ctx context.Context) error {
	return errors.Join(
		parallel.Each(ctx, len(a.plan.HandOver), parallelWrites, func(i int) error {
			return a.handOver(ctx, a.plan.HandOver[i])
		}),
		parallel.Each(ctx, len(a.plan.DeleteClaims), parallelWrites, func(i int) error {
			return a.deleteClaim(ctx, a.plan.DeleteClaims[i])
		}))
}

func (a *applier) handOver(ctx context.Context, h ClaimHandOver) error {
	owner := metav1.NewControllerRef(h.Pod, corev1.SchemeGroupVersion.WithKind("Pod"))
	owner.BlockOwnerDeletion = nil
	data, err := ownerPatch(h.Claim, a.set.UID, *owner)
	if err != nil {
		return err
	}
	claim, err := a.kubernetes.CoreV1().PersistentVolumeClaims(h.Claim.Namespace).
		Patch(ctx, h.Claim.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
	if err != nil {
		a.event(corev1.EventTypeWarning, "FailedUpdate", "hand claim %s over to pod %s: %v", h.Claim.Name, h.Pod.Name, err)
		return fmt.Errorf("hand claim %s over to pod %s: %w", h.Claim.Name, h.Pod.Name, err)
	}
	a.wrote(ResourceClaims, claim)
	return nil
}

func (a *applier) deleteClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	version, err := a.deletePVC(ctx, claim)
	if err != nil {
		a.event(corev1.EventTypeWarning, "FailedDelete", "delete claim %s: %v", claim.Name, err)
		return fmt.Errorf("delete claim %s: %w", claim.Name, err)
	}
	a.writes.Wrote(a.key, ResourceClaims, version)
	return nil
}

// prune drops the names of pods that are gone from podsToDelete.
func (a *applier) prune(ctx context.Context) error {
	if !a.plan.PrunePodsToDelete {
		return nil
	}
	data, err := prunePatch(a.set, a.plan.PodsToDelete)
	if err != nil {
		return err
	}
	set, err := a.workloads.CloneSets(a.set.Namespace).Patch(ctx, a.set.Name, types.MergePatchType, data, metav1.PatchOptions{})
	if apierrors.IsConflict(err) {
		return nil // the CloneSet has changed: its next pass prunes
	}
	if err != nil {
		return fmt.Errorf("prune spec.scaleStrategy.podsToDelete: %w", err)
	}
	a.wrote(ResourceCloneSets, set)
	return nil
}

func (a *applier) history(ctx context.Context) error {
	var errs []error
	for _, r := range a.plan.DeleteRevisions {
		err := a.kubernetes.AppsV1().ControllerRevisions(r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion},
		})
		if err != nil && !gone(err) {
			errs = append(errs, fmt.Errorf("delete ControllerRevision %s: %w", r.Name, err))
		}
	}
	return errors.Join(errs...)
}

// gone tells whether an error means that the object no longer exists: a conflict is
// another object of the same name, since every write names the UID.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// wrote remembers a write, so that the next pass waits until the cache shows it.
func (a *applier) wrote(resource Resource, written metav1.Object) {
	a.writes.Wrote(a.key, resource, written.GetResourceVersion())
}

func (a *applier) event(kind, reason, format string, args ...any) {
	if a.recorder != nil {
		a.recorder.Eventf(a.set, kind, reason, format, args...)
	}
}

// failed notes an error to be reported in the status.
func (a *applier) failed(condition v1alpha1.CloneSetConditionType, err error) error {
	if err != nil {
		a.failures = append(a.failures, Problem{Condition: condition, Err: err})
	}
	return err
}
