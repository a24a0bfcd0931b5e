package cloneset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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
	told sync.Map // reason to the number of events in this pass
	// version is the resourceVersion of the CloneSet after the last own write.
	version string
	// failures collects what to report in the status, besides the errors that
	// make the pass be repeated.
	failures []Problem
}

// apply carries out the plan. One pod's failure does not stop the others; all
// errors are collected, so that the pass is repeated.
func (r *Reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{
		Reconciler: r, set: s.Set, plan: plan, gate: budgetGate{budget: r.budget},
		key: types.NamespacedName{Namespace: s.Set.Namespace, Name: s.Set.Name}, version: s.Set.ResourceVersion,
	}
	if settled, err := a.revisions(ctx); err != nil {
		_ = a.failed(v1alpha1.CloneSetConditionFailedUpdate, err)
		return 0, worthRetrying([]error{err, a.status(ctx, s, nil)})
	} else if !settled {
		return staleRetry, nil
	}
	var errs []error
	for _, step := range []func(context.Context) error{a.letClaimsGo, a.deletePods, a.patchPods, a.createPods, a.preDownload} {
		errs = append(errs, step(ctx))
	}
	errs = append(errs, a.status(ctx, s, plan.Status), a.prune(ctx), a.history(ctx))
	requeueAfter = plan.RequeueAfter
	if a.gate.refused && (requeueAfter == 0 || requeueAfter > budgetRetry) {
		requeueAfter = budgetRetry
	}
	return requeueAfter, worthRetrying(errs)
}

// revisions writes the update revision, before any pod refers to it. It
// returns false when the revision turned out to be another one than planned. (CR5)
func (a *applier) revisions(ctx context.Context) (settled bool, err error) {
	revisions := a.kubernetes.AppsV1().ControllerRevisions(a.set.Namespace)
	if wanted := a.plan.Revisions.Create; wanted != nil {
		created, err := revisions.Create(ctx, wanted, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return false, a.revisionExists(ctx, wanted)
		}
		if err != nil {
			return false, fmt.Errorf("create ControllerRevision %s: %w", wanted.Name, err)
		}
		a.wrote(ResourceRevisions, created)
	}
	if raise := a.plan.Revisions.Raise; raise != nil {
		data := fmt.Appendf(nil, `{"metadata":{"uid":%q},"revision":%d}`, raise.UID, a.plan.Revisions.RaiseTo)
		raised, err := revisions.Patch(ctx, raise.Name, types.MergePatchType, data, metav1.PatchOptions{})
		if err != nil {
			return false, fmt.Errorf("raise ControllerRevision %s to %d: %w", raise.Name, a.plan.Revisions.RaiseTo, err)
		}
		a.wrote(ResourceRevisions, raised)
	}
	return true, nil
}

// revisionExists looks at the revision that has the name already. With the
// same content it will be found in the next pass. With another content two
// templates have the same hash: the next pass counts one collision more. So it
// does where the revision is one that no pass over this CloneSet will find.
func (a *applier) revisionExists(ctx context.Context, wanted *appsv1.ControllerRevision) error {
	found, err := a.kubernetes.AppsV1().ControllerRevisions(wanted.Namespace).Get(ctx, wanted.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read ControllerRevision %s, which exists already: %w", wanted.Name, err)
	}
	equal, err := revision.Equal(found, wanted)
	if err != nil {
		return err
	}
	if equal && a.finds(found) {
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

// finds tells whether Reader.Revisions will return a revision.
func (a *applier) finds(r *appsv1.ControllerRevision) bool {
	if len(r.OwnerReferences) > 0 {
		return slices.ContainsFunc(r.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == a.set.UID })
	}
	selector, err := metav1.LabelSelectorAsSelector(a.set.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(r.Labels))
}

// letClaimsGo lets go of claims whose pods are gone.
func (a *applier) letClaimsGo(ctx context.Context) error {
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
	version, err := a.claims.Patch(ctx, h.Claim, "", types.StrategicMergePatchType, data)
	if err != nil {
		a.event(corev1.EventTypeWarning, "FailedUpdate", "hand claim %s over to pod %s: %v", h.Claim.Name, h.Pod.Name, err)
		return fmt.Errorf("hand claim %s over to pod %s: %w", h.Claim.Name, h.Pod.Name, err)
	}
	a.wroteAt(ResourceClaims, version)
	return nil
}

func (a *applier) deleteClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	version, err := a.claims.Delete(ctx, claim)
	if err != nil {
		a.event(corev1.EventTypeWarning, "FailedDelete", "delete claim %s: %v", claim.Name, err)
		return fmt.Errorf("delete claim %s: %w", claim.Name, a.unanswered(ResourceClaims, claim.Name, err))
	}
	a.wroteAt(ResourceClaims, version)
	return nil
}

// prune drops the names of pods that are gone from podsToDelete.
func (a *applier) prune(ctx context.Context) error {
	if !a.plan.PrunePodsToDelete {
		return nil
	}
	data, err := prunePatch(a.set.UID, a.version, a.plan.PodsToDelete)
	if err != nil {
		return err
	}
	set, err := a.workloads.CloneSets(a.set.Namespace).Patch(ctx, a.set.Name, types.MergePatchType, data, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("prune spec.scaleStrategy.podsToDelete: %w", err)
	}
	a.wrote(ResourceCloneSets, set)
	return nil
}

func (a *applier) history(ctx context.Context) error {
	var errs []error
	for _, r := range a.plan.Revisions.Delete {
		err := a.kubernetes.AppsV1().ControllerRevisions(r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion},
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			errs = append(errs, fmt.Errorf("delete ControllerRevision %s: %w", r.Name, err))
		}
	}
	return errors.Join(errs...)
}

// wrote remembers a write, so that the next pass waits until the cache shows it.
func (a *applier) wrote(resource Resource, written metav1.Object) {
	a.wroteAt(resource, written.GetResourceVersion())
}

func (a *applier) wroteAt(resource Resource, resourceVersion string) {
	a.own.Wrote(a.key, resource, resourceVersion)
}

// eventsPerReason limits the events of one pass. The recorder of client-go lets
// an object have a burst of 25 and drops the rest, but only after it has worked
// on them.
const eventsPerReason = 25

func (a *applier) event(kind, reason, format string, args ...any) {
	if a.recorder == nil {
		return
	}
	told, _ := a.told.LoadOrStore(reason, new(atomic.Int32))
	if told.(*atomic.Int32).Add(1) <= eventsPerReason {
		a.recorder.Eventf(a.set, kind, reason, format, args...)
	}
}
