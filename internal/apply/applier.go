// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/predownload"
)

// Kind says how the plans of a kind whose status is an S are applied.
type Kind[S any] struct {
	// FailedCreate, FailedUpdate and FailedDelete name the conditions that report failures. A deletion for an update is one.
	FailedCreate, FailedUpdate, FailedDelete string
	// Recreates says that an event is recorded the deletions for updates apart.
	Recreates bool
	// Ended gives the type, the reason and the text of the event about a pod that has
	// ended and is replaced. Default: RecreatingFailedPod.
	Ended func(*corev1.Pod) (eventType, reason, message string)

	// Status is the podplan.Status of the kind.
	Status Status[S]
	// Shrinks tells whether pods that the first status counts are gone in the second.
	Shrinks func(before, after *S) bool
}

// Status is what an Applier asks of a podplan.Status, whatever the conditions of the
// kind are.
type Status[S any] interface {
	Same(a, b *S) bool
	Report(status, observed *S, problems []rollout.Problem, now time.Time) *S
	Collided(observed *S, now time.Time) *S
}

// Applier applies one plan for a workload whose status is an S. All of its writes
// go through it.
type Applier[S any] struct {
	*Sync
	Kind *Kind[S]
	Plan *rollout.Plan
	// Status is the status to write, nil if the observed one stands.
	Status, Observed *S
	Selector         *metav1.LabelSelector
	Now              time.Time

	// Jobs creates and deletes jobs that pull images ahead; nil: no jobs are made.
	Jobs predownload.Jobs
	// AllowUpdate tells whether a pod may be taken out of service by an update.
	// Nil allows all.
	AllowUpdate func(ctx context.Context, pod *corev1.Pod) (bool, error)
	// Uncreated returns a status that does not count pods which could not be created. Nil if the planned
	// status does not count those that are to be created.
	Uncreated func(status *S, pods []rollout.PodCreation) *S
	// Hold plans anew without the update revision, which cannot be created, as err says. Nil if such a plan has
	// nothing to do.
	Hold func(err error) *rollout.Plan
	// Replaced is called for pods that have ended and are deleted. May be nil.
	Replaced func(*corev1.Pod)

	stored   *S // as it was observed, or written by this reconcile
	created  created
	updates  updates
	failures Failures
	unknown  bool // AllowUpdate could not tell
	held     bool // the plan is that of Hold

	exhausted map[types.NamespacedName]bool // budgets of pods that AllowUpdate has refused
}

// Step is one step of applying a plan.
type Step func(context.Context) error

// Apply applies the plan: the revisions, before any pod refers to them; the steps;
// the status; what is to follow it, if followUp is not nil; and what is left of
// the history. It returns false if the next reconcile has to plan again, and
// otherwise after what time there is to be one. One failure does not stop the rest;
// all errors are collected, so that the reconcile is repeated.
func (a *Applier[S]) Apply(ctx context.Context, adopt Step, steps []Step, followUp Step) (requeueAfter time.Duration, settled bool, err error) {
	a.stored, a.Updated = a.Observed, a.updated
	if a.Uncreated != nil {
		a.Tried = a.created.note
	}
	if selector, err := metav1.LabelSelectorAsSelector(a.Selector); err == nil && !selector.Empty() {
		a.Selected = selector
	}
	if began := a.since(a.Now); a.Now.Sub(began) < late {
		a.ReusedBy = began.UTC().Format(time.RFC3339Nano)
	}
	var errs []error
	if adopt != nil {
		err = adopt(ctx)
	}
	if err == nil {
		settled, err = a.PrepareRevisions(ctx, &a.Plan.Revisions, a.Selector, a.collided)
		if a.mayHold(err) {
			errs, settled, err = append(errs, err), true, a.hold(err)
		}
	}
	if err != nil {
		_ = a.failures.Add(a.Kind.FailedUpdate, err)
		return 0, true, WorthRetrying(err, a.writeStatus(ctx, nil))
	}
	if !settled {
		return 0, false, nil
	}
	if outdated, err := a.outdated(ctx); outdated {
		return 0, true, WorthRetrying(err)
	}
	for _, step := range steps {
		errs = append(errs, step(ctx))
	}
	statusErr := a.writeStatus(ctx, a.Status)
	errs = append(errs, statusErr)
	if followUp != nil {
		errs = append(errs, followUp(ctx))
	}
	if statusErr == nil { // otherwise the status may still name a revision to delete
		errs = append(errs, a.DeleteRevisions(ctx, a.Plan.Revisions.Delete))
	}
	return a.requeueAfter(), true, WorthRetrying(errs...)
}

// mayHold tells whether the API server has refused for certain to create the update revision, and there is a current one. (CT-9)
func (a *Applier[S]) mayHold(err error) bool {
	return a.Hold != nil && RefusesRevision(&a.Plan.Revisions, err)
}

// hold goes on without the update revision: missing pods come from the current one. The status keeps its numbers, which are
// about revisions that there are, and says why. (CT-9)
func (a *Applier[S]) hold(refused error) error {
	_ = a.failures.Add(a.Kind.FailedUpdate, refused)
	a.Plan, a.Status, a.Uncreated, a.held = a.Hold(summary(refused)), nil, nil, true
	a.Plan.Revisions.Delete = nil
	return nil
}

// outdated finds out whether the workload is gone or another one by now, if
// pods that its status counts are gone and would be created again, or the current
// revision is, so that they would be created at another one. The garbage collector
// deletes what a workload owns after it, and the caches may show that the other way
// round. It costs no request to write the status before anything else, which is due
// anyway; if that fails for another reason, the reconcile goes on and tries again
// at its end.
func (a *Applier[S]) outdated(ctx context.Context) (bool, error) {
	if len(a.Plan.Create) == 0 || !a.held && a.Plan.Revisions.Missing == "" && !a.shrinks() {
		return false, nil
	}
	var err error
	if a.held || a.Uncreated != nil { // it counts pods that are not there yet: nothing is changed
		err = a.RewriteStatus(ctx, a.stored)
	} else {
		err = a.writeStatus(ctx, a.Status)
	}
	return a.Gone || apierrors.IsConflict(err), err
}

// shrinks tells whether pods that the status counts are gone.
func (a *Applier[S]) shrinks() bool {
	planned := a.Status
	if planned == nil {
		planned = a.Observed
	}
	if a.Uncreated != nil {
		planned = a.Uncreated(planned, a.Plan.Create)
	}
	return a.Kind.Shrinks(a.Observed, planned)
}

// collided counts one collision of revision names more. (CS-CR5)
func (a *Applier[S]) collided(ctx context.Context) error {
	return a.WriteStatus(ctx, a.Observed, a.Kind.Status.Collided(a.Observed, a.Now))
}

// writeStatus writes the planned status, nil if the present one stands, and
// what went wrong since.
func (a *Applier[S]) writeStatus(ctx context.Context, status *S) error {
	if missed := a.created.missed(a.Plan.Create); a.Uncreated != nil && status == a.Status && len(missed) > 0 {
		if status == nil {
			status = a.Observed
		}
		if status = a.Uncreated(status, missed); a.Kind.Status.Same(a.stored, status) {
			status = nil
		}
	}
	if failures := a.reports(); len(failures) > 0 {
		if status == nil {
			status = a.stored
		}
		status = a.Kind.Status.Report(status, a.Observed, append(failures, a.Plan.Problems...), a.Now)
		if a.Kind.Status.Same(a.stored, status) {
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

// CreateClaims creates claims that pods wait for.
func (a *Applier[S]) CreateClaims(ctx context.Context) error {
	return a.failures.Add(a.Kind.FailedCreate, Each(ctx, a.Plan.CreateClaims, a.CreateClaim))
}

// ChangeClaims gives claims their owners.
func (a *Applier[S]) ChangeClaims(ctx context.Context, claims []rollout.ClaimPatch) error {
	return Each(ctx, claims, a.changeClaim)
}

func (a *Applier[S]) changeClaim(ctx context.Context, c rollout.ClaimPatch) error {
	err := a.ChangeClaim(ctx, c)
	if err != nil {
		a.Event(corev1.EventTypeWarning, "FailedUpdate", "%v", err)
	}
	return err
}

// Failed has an error reported by a condition, and returns it.
func (a *Applier[S]) Failed(condition string, err error) error { return a.failures.Add(condition, err) }

// ApplyPods applies the stages of the plan. (CS-16)
func (a *Applier[S]) ApplyPods(ctx context.Context) error {
	return a.ApplyStages(ctx, &a.Plan.Stages, func(ctx context.Context, stage *rollout.Stage) error {
		return errors.Join(a.deletePods(ctx, stage), a.patchPods(ctx, stage),
			a.failures.Add(a.Kind.FailedCreate, a.CreatePods(ctx, stage.Create)))
	})
}

// deletePods deletes pods with what goes with them. (CS-24)
func (a *Applier[S]) deletePods(ctx context.Context, stage *rollout.Stage) error {
	if len(stage.Delete) == 0 {
		return nil
	}
	reason := stage.Delete[len(stage.Delete)-1].For // if it matters, a stage deletes for one reason, beside pods that are none
	turns := newTurns(len(stage.Delete))
	err := apiwriter.Each(ctx, len(stage.Delete), atOnce, func(i int) error { return a.deletePod(ctx, turns, i, stage.Delete[i]) })
	if reason == rollout.DeleteForUpdate {
		return a.failedUpdates(err)
	}
	return a.failures.Add(a.Kind.FailedDelete, err)
}

// deletePod deletes a pod: after its claims say whose they are, and
// before those are deleted that no pod uses any more.
func (a *Applier[S]) deletePod(ctx context.Context, turns *turns, i int, d rollout.PodDeletion) error {
	action := Delete
	if d.For != rollout.DeleteForUpdate {
		turns.end(i)
		a.updates.tries(d.Pod)
	} else {
		if a.Kind.Recreates {
			action = Recreate
		}
		if allowed, err := a.mayUpdate(ctx, turns, i, d.Pod); !allowed || err != nil {
			return err
		}
	}
	for _, claim := range d.ChangeClaims {
		if err := a.changeClaim(ctx, claim); err != nil {
			return fmt.Errorf("delete pod %s: %w", d.Pod.Name, err)
		}
	}
	if d.For == rollout.DeleteFailed {
		eventType, reason, message := a.ended(d.Pod)
		a.Event(eventType, reason, "%s", message)
	}
	remove := a.DeletePod
	if d.Unchanged {
		remove = a.DeletePodUnchanged
	}
	deleted, err := remove(ctx, d.Pod, action)
	if d.For == rollout.DeleteForUpdate {
		a.updated(d.Pod, err)
	}
	if err != nil {
		return err
	}
	if d.For == rollout.DeleteFailed && a.Replaced != nil {
		a.Replaced(d.Pod)
	}
	if d.For == rollout.DeleteUnselected {
		return a.unselected(d.Pod)
	}
	if !deleted { // a new pod of its name may mount the claims
		return nil
	}
	var errs []error
	for _, claim := range d.DeleteClaims {
		errs = append(errs, a.DeleteClaim(ctx, claim))
	}
	return errors.Join(errs...)
}

func (a *Applier[S]) ended(pod *corev1.Pod) (eventType, reason, message string) {
	if a.Kind.Ended != nil {
		return a.Kind.Ended(pod)
	}
	return corev1.EventTypeWarning, "RecreatingFailedPod", fmt.Sprintf("Pod %s has ended (%s) and is recreated", pod.Name, pod.Status.Phase)
}

// patchPods changes pods, those to be updated as far as that is allowed. (CS-32)
func (a *Applier[S]) patchPods(ctx context.Context, stage *rollout.Stage) error {
	turns := newTurns(len(stage.Patch))
	allow := func(ctx context.Context, i int) (bool, error) {
		p := &stage.Patch[i]
		if !p.ForUpdate || p.InService {
			turns.end(i)
			return true, nil
		}
		return a.mayUpdate(ctx, turns, i, p.Pod)
	}
	return a.failedUpdates(apiwriter.Each(ctx, len(stage.Patch), atOnce, func(i int) error {
		defer turns.end(i) // also if it is not asked about, as a write that another writer takes back (CT-12)
		return a.putPod(ctx, stage.Patch, i, allow)
	}))
}

// refusedRetry is how soon a refused update is asked about again.
const refusedRetry = time.Second

// requeueAfter is the plan's, or sooner if an update was refused, or if the status is to say what holds the workload up.
func (a *Applier[S]) requeueAfter() time.Duration {
	soonest := a.Plan.RequeueAfter
	if told := a.NoteHeld(a.Key, a.Plan.Held, a.Now); told > 0 && (soonest == 0 || told < soonest) {
		soonest = told
	}
	if (len(a.exhausted) > 0 || a.unknown) && (soonest == 0 || refusedRetry < soonest) {
		soonest = refusedRetry
	}
	return soonest
}

// PullAhead creates or deletes the jobs that pull images ahead, and labels the
// update revision.
func (a *Applier[S]) PullAhead(ctx context.Context) error {
	if a.Jobs == nil {
		return nil
	}
	return a.PreDownload(ctx, a.Jobs, a.Plan.Revisions.Update, a.Plan.PreDownload)
}
