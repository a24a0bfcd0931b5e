package statefulset

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Workloads, w.Recorder, w.Message = ResourceStatefulSets, o.Recorder, message
	w.Tells = map[rollout.PatchKind]apply.Deed{
		rollout.PatchUpdateInPlace: apply.UpdateInPlace,
		rollout.PatchIdentify:      apply.Update,
	}
	w.NewestWorkload = func(ctx context.Context, namespace string) (string, error) {
		list, err := o.Workloads.StatefulSets(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return "", err
		}
		return list.ResourceVersion, nil
	}
	w.PatchStatus = func(ctx context.Context, key types.NamespacedName, data []byte) (string, error) {
		set, err := o.Workloads.StatefulSets(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
		if err != nil {
			return "", err
		}
		return set.ResourceVersion, nil
	}
	return w
}

// applier carries out one plan. Every write goes through it.
type applier struct {
	*Reconciler
	*apply.Pass
	set  *v1beta1.StatefulSet
	plan *Plan
	// stored is the status as it was observed, or written by this pass.
	stored *v1beta1.StatefulSetStatus
	// failures collects what to report in the status, besides the errors that
	// make the pass be repeated.
	failures apply.Failures
}

// begin returns the applier of a plan for a StatefulSet.
func (r *Reconciler) begin(set *v1beta1.StatefulSet, plan *Plan) *applier {
	return &applier{Reconciler: r, Pass: r.writer.Begin(set), set: set, plan: plan, stored: &set.Status}
}

// apply carries the plan out. One pod's failure does not stop the others; all
// errors are collected, so that the pass is repeated.
func (r *Reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s.Set, plan)
	settled, err := a.revisions(ctx)
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
	for _, step := range []func(context.Context) error{a.changeClaims, a.createClaims, a.movePods, a.preDownload} {
		errs = append(errs, step(ctx))
	}
	err = a.status(ctx, s, plan.Status)
	if err == nil { // otherwise the status may still name a revision to delete
		err = a.DeleteRevisions(ctx, plan.Revisions.Delete)
	}
	return plan.RequeueAfter, apply.WorthRetrying(append(errs, err)...)
}

// outdated finds out whether the StatefulSet is gone or another one by now,
// where pods that its status counts are gone and would be created again. The
// garbage collector deletes the pods of a StatefulSet after it, and the caches
// may show that the other way round. It costs no request to write the status
// before anything else, which is due anyway; where that fails for another
// reason, the pass goes on and tries again at its end.
func (a *applier) outdated(ctx context.Context, s *Snapshot) (bool, error) {
	status, stored := a.plan.Status, a.stored
	if len(a.plan.Create) == 0 || status == nil || status.Replicas >= stored.Replicas && status.ReadyReplicas >= stored.ReadyReplicas {
		return false, nil
	}
	err := a.status(ctx, s, status)
	return a.Gone || apierrors.IsConflict(err), err
}

// revisions takes over what has no controller, and writes the update revision.
// It returns false when that turned out to be another one than planned.
func (a *applier) revisions(ctx context.Context) (settled bool, err error) {
	adopt := a.plan.Revisions.Adopt
	if len(adopt) > 0 || slices.ContainsFunc(a.plan.Patch, func(p rollout.PodPatch) bool { return p.Kind == rollout.PatchAdopt }) {
		if err := a.mayAdopt(ctx); err != nil {
			return false, err
		}
	}
	if err := a.AdoptRevisions(ctx, adopt, ownerReference(a.set)); err != nil {
		return false, err
	}
	return a.PrepareRevisions(ctx, &a.plan.Revisions, a.set.Spec.Selector, a.collided)
}

// mayAdopt asks the API server itself whether the StatefulSet still exists: what
// one that is being deleted takes over would be deleted with it.
func (a *applier) mayAdopt(ctx context.Context) error {
	live, err := a.workloads.StatefulSets(a.set.Namespace).Get(ctx, a.set.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("adopt pods and revisions: read the StatefulSet: %w", err)
	}
	if live.UID != a.set.UID || live.DeletionTimestamp != nil {
		return fmt.Errorf("adopt pods and revisions: the StatefulSet with UID %s is gone or being deleted", a.set.UID)
	}
	return nil
}

// collided counts one collision of revision names more. (CS-CR5)
func (a *applier) collided(ctx context.Context) error {
	status := a.set.Status.DeepCopy()
	status.CollisionCount = ptr.To(ptr.Deref(status.CollisionCount, 0) + 1)
	return a.WriteStatus(ctx, &a.set.Status, status)
}

// status writes the planned status, nil where the present one stands, and what
// went wrong since.
func (a *applier) status(ctx context.Context, s *Snapshot, status *v1beta1.StatefulSetStatus) error {
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

// ownerReference says that a StatefulSet controls something.
func ownerReference(set *v1beta1.StatefulSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"))
}
