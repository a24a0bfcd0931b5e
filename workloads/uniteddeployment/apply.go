// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// SubsetMetrics receives the state of subsets. Implementations must be safe for use by several goroutines.
type SubsetMetrics interface {
	// Subsets is called in each reconcile of a UnitedDeployment with the state of its subsets,
	// in the order of the topology. It gets none if the UnitedDeployment is gone.
	Subsets(of types.NamespacedName, subsets []SubsetState)
}

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourceUnitedDeployments, o.Recorder
	w.Merge = apiwriter.TypedMerge(o.Workloads.UnitedDeployments)
	return w
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	snapshot *Snapshot
	plan     *Plan
	status   *v1alpha1.UnitedDeploymentStatus
}

// apply does what the plan says: revisions, before any pod refers to them; the workloads; the
// status; and what is left of the history. One failure does not stop the rest, but that
// nothing is deleted while something could not be created. (UD-5)
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if plan.Status == nil { // it is being deleted
		return 0, nil
	}
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Set), snapshot: s, plan: plan, status: plan.Status.DeepCopy()}
	a.recordPlan()
	if current, err := a.current(ctx); err != nil || !current {
		return controller.Again(a.Gone), err
	}
	var refused error
	if plan.Revisions.Update != nil {
		settled, err := a.revisions(ctx)
		if err != nil {
			a.Event(corev1.EventTypeWarning, ReasonFailedRevisionProvision, "%v", err)
		}
		if apply.RefusedRevision(&plan.Revisions, err) != nil {
			refused = err
			settled, err = a.hold(ctx)
		}
		if err != nil {
			return 0, apply.WorthRetrying(err)
		}
		if !settled {
			return controller.Again(a.Gone), nil
		}
	}
	err = a.workloads(ctx, refused)
	controller.Measure(r.options.SubsetMetrics, func(m SubsetMetrics) { m.Subsets(a.Key, a.plan.states()) })
	err = errors.Join(err, a.markAll(ctx))
	statusErr := a.writeStatus(ctx)
	if statusErr == nil {
		a.recordMoves()
		statusErr = a.DeleteRevisions(ctx, a.plan.Revisions.Delete)
	}
	return apply.Soonest(a.plan.RequeueAfter, a.NoteHeld(a.Key, a.plan.Held, s.Now)), apply.WorthRetrying(err, statusErr)
}

// current finds out whether the UnitedDeployment is still as it was observed, if something would
// be taken away. The cache of workloads may be ahead of it. It may show those of subsets that it
// does not know yet, or those that a deletion has left without an owner.
func (a *applier) current(ctx context.Context) (bool, error) {
	if len(a.plan.Delete)+len(a.plan.Adopt)+len(a.plan.Release)+len(a.plan.Revisions.Adopt) == 0 {
		return true, nil
	}
	set := a.snapshot.Set
	live, err := a.sets.Read(ctx, set.Namespace, set.Name)
	if apierrors.IsNotFound(err) {
		a.Gone = true
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read UnitedDeployment %s: %w", a.Key, err)
	}
	same := live.GetUID() == set.UID && live.GetGeneration() == set.Generation && live.GetDeletionTimestamp() == nil
	if !same {
		a.Wrote(resourceUnitedDeployments, live.GetResourceVersion()) // the next reconcile waits until the cache shows it
	}
	return same, nil
}

// revisions writes the revision of the present template. It returns false if the next
// reconcile has to plan again.
func (a *applier) revisions(ctx context.Context) (settled bool, err error) {
	set := a.snapshot.Set
	owner := *metav1.NewControllerRef(set, kindOfSet)
	if err := a.AdoptRevisions(ctx, a.plan.Revisions.Adopt, owner); err != nil {
		return false, err
	}
	state, err := a.PrepareRevisions(ctx, &a.plan.Revisions, set.Spec.Selector, sameTemplate)
	if state == apply.Collided {
		collided := set.Status.DeepCopy()
		collided.CollisionCount = new(ptr.Deref(set.Status.CollisionCount, 0) + 1)
		err = a.WriteStatus(ctx, &set.Status, collided)
	}
	return state == apply.Settled, err
}

// hold plans anew with the template of the current revision, while the one of a new template is refused. Subsets get the pods that the spec
// wants, and none is updated. The status keeps its numbers, which are about revisions that there are. (CT-9)
func (a *applier) hold(ctx context.Context) (settled bool, err error) {
	template, err := templateOf(a.plan.Revisions.Current)
	if err != nil {
		return false, err
	}
	s := *a.snapshot
	s.Set = s.Set.DeepCopy()
	s.Set.Spec.Template = *template
	a.plan, a.status = NewPlan(&s), a.snapshot.Set.Status.DeepCopy()
	a.plan.Revisions = revision.Changes{}
	return a.current(ctx)
}

// workloads writes the workloads, and says in the conditions what came of it, and that the revision of the template was refused. (UD-16)
func (a *applier) workloads(ctx context.Context, refused error) error {
	provisioned := errors.Join(a.own(ctx), a.createAll(ctx))
	if provisioned == nil {
		provisioned = a.deleteAll(ctx)
	}
	did := len(a.plan.Adopt) + len(a.plan.Release) + len(a.plan.Create) + len(a.plan.Delete)
	a.condition(v1alpha1.SubsetProvisioned, did > 0, provisioned)
	updated := errors.Join(refused, a.updateAll(ctx))
	a.condition(v1alpha1.SubsetUpdated, len(a.plan.Update) > 0, updated)
	return errors.Join(provisioned, updated, apply.Each(ctx, a.plan.DeletePods, func(ctx context.Context, pod *corev1.Pod) error {
		_, err := a.DeletePodUnchanged(ctx, pod, apply.Delete)
		return err
	}))
}

// condition sets a condition: False if something failed, True if something was done, or
// nothing fails any more. (UD-16)
func (a *applier) condition(of v1alpha1.UnitedDeploymentConditionType, did bool, err error) {
	condition := v1alpha1.UnitedDeploymentCondition{Type: of, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(a.snapshot.Now)}
	var failures apply.Failures
	if _ = failures.Add(string(of), apply.WorthRetrying(err)); len(failures) > 0 {
		condition.Status, condition.Reason, condition.Message = corev1.ConditionFalse, reasonError, failures[0].Err.Error()
	} else if err != nil || !did && !failed(a.status, of) {
		return
	}
	setCondition(a.status, condition)
}

// failed tells whether a condition is False.
func failed(status *v1alpha1.UnitedDeploymentStatus, of v1alpha1.UnitedDeploymentConditionType) bool {
	for i := range status.Conditions {
		if status.Conditions[i].Type == of {
			return status.Conditions[i].Status == corev1.ConditionFalse
		}
	}
	return false
}

// writeStatus writes the status if it differs. (UD-12)
func (a *applier) writeStatus(ctx context.Context) error {
	if sameStatus(&a.snapshot.Set.Status, a.status) {
		return nil
	}
	return a.WriteStatus(ctx, &a.snapshot.Set.Status, a.status)
}

// SubsetState is the state of a subset: how many pods it is to have, has, and has ready.
type SubsetState struct {
	// Name is that of the subset.
	Name string
	// Wanted, Replicas and Ready count pods: those that the subset is to have, has, and has ready.
	Wanted, Replicas, Ready int32
}

// states are the states of the subsets.
func (p *Plan) states() []SubsetState {
	states := make([]SubsetState, len(p.Subsets))
	for i, subset := range p.Subsets {
		states[i] = SubsetState{Name: subset.Name, Wanted: subset.Replicas}
		if c := subset.Child; c != nil {
			states[i].Replicas, states[i].Ready = c.CurrentReplicas, c.ReadyReplicas
		}
	}
	return states
}
