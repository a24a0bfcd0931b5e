// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/predownload"
)

// Reporting says how a status, which is an S, reports what came of a plan.
type Reporting[S any] struct {
	// FailedCreate, FailedUpdate and FailedDelete name the conditions that report failures. A deletion for an update is an update.
	FailedCreate, FailedUpdate, FailedDelete string
	// Recreates has deletions for updates recorded by an event of their own.
	Recreates bool
	// Status is the podplan.Status of the kind.
	Status Status[S]
}

// Status is what an Applier asks of a podplan.Status, whatever the conditions of the
// kind are.
type Status[S any] interface {
	Same(a, b *S) bool
	Report(status, observed *S, problems []rollout.Problem, now time.Time) *S
	Collided(observed *S, now time.Time) *S
}

// Applier applies one plan for a workload whose status is an S. Its methods are the steps that kinds share. A kind takes them in
// this order: Adopt; WriteOrHold, and Abandon if that fails; Outdated; CreateClaims, ApplyPods and PullAhead; Report; and
// TruncateHistory. One failure does not stop the rest: errors are joined, so that the reconcile is repeated.
type Applier[S any] struct {
	Sync      *Sync
	Reporting *Reporting[S]
	Plan      *rollout.Plan
	// Status is the status to write, nil if the observed one stands.
	Status, Observed *S
	// Uncreated is the status without the pods that are to be created. Nil if Status does not count those.
	Uncreated *S
	// Shrinks says that pods which Observed counts are gone, and perhaps the workload with them.
	Shrinks  bool
	Selector *metav1.LabelSelector
	// Budget may deny that an update takes a pod out of service. Nil allows all.
	Budget Budget
	Now    time.Time

	written  *S // by this reconcile
	updates  updates
	failures Failures
	refused  error // why the plan is held
	unsaid   bool  // the status could not be written
	unknown  bool  // the budget could not tell

	exhausted map[types.NamespacedName]bool // budgets that have denied updates
}

// WriteRevisions writes the revisions of the plan, before any pod refers to them. It returns false if the next reconcile has to
// plan again.
func (a *Applier[S]) WriteRevisions(ctx context.Context) (settled bool, err error) {
	state, err := a.Sync.PrepareRevisions(ctx, &a.Plan.Revisions, a.Selector, sameTemplate)
	if state == Collided {
		err = a.Sync.WriteStatus(ctx, a.Observed, a.Reporting.Status.Collided(a.Observed, a.Now))
	}
	return state == Settled, err
}

// WriteOrHold is WriteRevisions. While the API server refuses the update revision, the reconcile goes on with another plan. without
// makes that plan, and is told why the revision is refused. (CT-9)
func (a *Applier[S]) WriteOrHold(ctx context.Context, without func(refused error) *rollout.Plan) (settled bool, err error) {
	settled, err = a.WriteRevisions(ctx)
	if refused := RefusedRevision(&a.Plan.Revisions, err); refused != nil {
		a.hold(without(refused), err)
		return true, nil
	}
	return settled, err
}

// hold goes on with a plan without the update revision, which RefusedRevision has found to be refused: missing pods come from the
// current one. The status keeps its numbers, which are about revisions that there are, and says why. (CT-9)
func (a *Applier[S]) hold(plan *rollout.Plan, refused error) {
	_ = a.failures.Add(a.Reporting.FailedUpdate, refused)
	a.Plan, a.Status, a.Uncreated, a.refused = plan, nil, nil, refused
	a.Plan.Revisions.Delete = nil
}

// Abandon ends a reconcile that could not write its revisions: the status says why.
func (a *Applier[S]) Abandon(ctx context.Context, err error) error {
	_ = a.failures.Add(a.Reporting.FailedUpdate, err)
	if a.Status != nil {
		a.Status = nil // it is about revisions that there are not
	} else if a.Uncreated != nil {
		a.SetStatus(a.Uncreated)
	}
	return WorthRetrying(err, a.writeStatus(ctx))
}

// Outdated finds out whether the workload is gone or another one by now. It asks if pods
// that its status counts are gone and would be created again. It asks too if the current
// revision is gone, so that they would be created at another one. The garbage collector
// deletes what a workload owns after it, and the caches may show that the other way round.
// To write the status before anything else costs no request: it is due anyway. If that
// fails for another reason, the reconcile goes on and tries again at its end.
func (a *Applier[S]) Outdated(ctx context.Context) (outdated bool, err error) {
	if len(a.Plan.Create) == 0 || a.refused == nil && a.Plan.Revisions.Missing == "" && !a.Shrinks {
		return false, nil
	}
	if a.refused != nil || a.Uncreated != nil { // it counts pods that are not there yet: nothing is changed
		err = a.Sync.rewriteStatus(ctx, a.stored())
	} else {
		err = a.writeStatus(ctx)
	}
	if !a.Sync.Gone && !apierrors.IsConflict(err) {
		return false, nil
	}
	return true, WorthRetrying(err)
}

// SetStatus has a status written, unless it says what the present one does.
func (a *Applier[S]) SetStatus(status *S) {
	if a.Status = status; a.Reporting.Status.Same(a.stored(), status) {
		a.Status = nil
	}
}

// stored is the status as it was observed, or written by this reconcile.
func (a *Applier[S]) stored() *S { return cmp.Or(a.written, a.Observed) }

// Held tells whether the plan is one without the update revision, see WriteOrHold.
func (a *Applier[S]) Held() bool { return a.refused != nil }

// Report writes the status, with what went wrong, and returns why the plan is held, too.
func (a *Applier[S]) Report(ctx context.Context) error {
	err := a.writeStatus(ctx)
	a.unsaid = err != nil
	return errors.Join(a.refused, err)
}

// writeStatus writes the planned status, nil if the present one stands, and
// what went wrong since.
func (a *Applier[S]) writeStatus(ctx context.Context) error {
	status, stored := a.Status, a.stored()
	if failures := a.reports(); len(failures) > 0 {
		status = a.Reporting.Status.Report(cmp.Or(status, stored), a.Observed, append(failures, a.Plan.Problems...), a.Now)
		if a.Reporting.Status.Same(stored, status) {
			status = nil
		}
	}
	if status == nil || status == stored {
		return nil
	}
	if err := a.Sync.WriteStatus(ctx, stored, status); err != nil {
		return err
	}
	a.written = status
	return nil
}

// TruncateHistory deletes the revisions that nothing uses any more. It comes after Report: a status that could not be written may
// still name one.
func (a *Applier[S]) TruncateHistory(ctx context.Context) error {
	if a.unsaid {
		return nil
	}
	return a.Sync.DeleteRevisions(ctx, a.Plan.Revisions.Delete)
}

// CreateClaims creates claims that pods wait for.
func (a *Applier[S]) CreateClaims(ctx context.Context) error {
	return a.failures.Add(a.Reporting.FailedCreate, Each(ctx, a.Plan.CreateClaims, a.Sync.CreateClaim))
}

// ChangeClaims gives claims their owners.
func (a *Applier[S]) ChangeClaims(ctx context.Context, claims []rollout.ClaimPatch) error {
	return Each(ctx, claims, a.changeClaim)
}

func (a *Applier[S]) changeClaim(ctx context.Context, c rollout.ClaimPatch) error {
	err := a.Sync.ChangeClaim(ctx, c)
	if err != nil {
		a.Sync.Event(corev1.EventTypeWarning, "FailedUpdate", "%v", err)
	}
	return err
}

// Failed has an error reported by a condition, and returns it.
func (a *Applier[S]) Failed(condition string, err error) error { return a.failures.Add(condition, err) }

// PullAhead creates or deletes the jobs that pull images ahead, and labels the
// update revision. If jobs is nil, it does nothing.
func (a *Applier[S]) PullAhead(ctx context.Context, jobs predownload.Jobs) error {
	if jobs == nil {
		return nil
	}
	return a.Sync.preDownload(ctx, jobs, a.Plan.Revisions.Update, a.Plan.PreDownload)
}

// deniedRetry is how soon a budget is asked again.
const deniedRetry = time.Second

// RequeueAfter is the plan's, or sooner if a budget denied an update, or if the status is to say what holds the workload up.
func (a *Applier[S]) RequeueAfter() time.Duration {
	var again time.Duration
	if len(a.exhausted) > 0 || a.unknown {
		again = deniedRetry
	}
	return Soonest(a.Plan.RequeueAfter, a.Sync.NoteHeld(a.Sync.Key, a.Plan.Held, a.Now), again)
}
