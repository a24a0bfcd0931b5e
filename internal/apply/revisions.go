// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/caches"
)

func (p *Sync) revisions() appsv1client.ControllerRevisionInterface {
	return p.Kubernetes.AppsV1().ControllerRevisions(cmp.Or(p.RevisionNamespace, p.Key.Namespace))
}

// Adopt adopts the revisions of the plan, which have no controller, for the owner. The pods to adopt are among the patches. For either
// the workload must still exist, so live reads it past all caches. What one that is being deleted adopts would be deleted with it.
func (a *Applier[S]) Adopt(ctx context.Context, owner metav1.OwnerReference, live func() (metav1.Object, error)) error {
	revisions := a.Plan.Revisions.Adopt
	if len(revisions) == 0 && !slices.ContainsFunc(a.Plan.Patch, func(p rollout.PodPatch) bool { return p.Kind == rollout.PatchAdopt }) {
		return nil
	}
	workload, err := live()
	if err != nil {
		return fmt.Errorf("adopt pods and revisions: read the %s: %w", owner.Kind, err)
	}
	if workload.GetUID() != owner.UID || workload.GetDeletionTimestamp() != nil {
		return fmt.Errorf("adopt pods and revisions: the %s with UID %s is gone or being deleted", owner.Kind, owner.UID)
	}
	return a.Sync.AdoptRevisions(ctx, revisions, owner)
}

// AdoptRevisions makes owner an owner of revisions. Those that are gone
// meanwhile are passed over.
func (p *Sync) AdoptRevisions(ctx context.Context, adopt []*appsv1.ControllerRevision, owner metav1.OwnerReference) error {
	return Each(ctx, adopt, func(ctx context.Context, r *appsv1.ControllerRevision) error {
		data, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": r.UID, "ownerReferences": []any{owner}}})
		if err != nil {
			return fmt.Errorf("adopt ControllerRevision %s: %w", r.Name, err)
		}
		adopted, err := p.revisions().Patch(ctx, r.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
		if err != nil && Gone(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("adopt ControllerRevision %s: %w", r.Name, err)
		}
		p.Wrote(caches.Revisions, adopted.ResourceVersion)
		return nil
	})
}

// RevisionState says what came of the revisions of a plan.
type RevisionState int

const (
	// Unsettled: the next reconcile has to plan again. The update revision turned out to be another one, or the current one
	// to be there after all.
	Unsettled RevisionState = iota
	// Settled: pods may refer to the revisions.
	Settled
	// Collided: the name of the update revision is taken. The status is to count one collision more, for another name. (CS-CR5)
	Collided
)

// PrepareRevisions writes the update revision, before any pod refers to it. The selector is the workload's; same
// tells whether two revisions hold the same, and is sameTemplate if they hold pod templates. (CS-CR5)
func (p *Sync) PrepareRevisions(
	ctx context.Context, c *revision.Changes, selector *metav1.LabelSelector, same func(found, wanted *appsv1.ControllerRevision) bool,
) (RevisionState, error) {
	if unseen, err := p.currentUnseen(ctx, c.Missing, selector); unseen || err != nil {
		return Unsettled, err
	}
	if c.Create != nil {
		version, err := p.CreateOwned(func() (string, error) {
			created, err := p.revisions().Create(ctx, c.Create, metav1.CreateOptions{})
			return created.GetResourceVersion(), err
		})
		if apierrors.IsAlreadyExists(err) {
			return p.revisionExists(ctx, c.Create, selector, same)
		}
		if err != nil {
			return Unsettled, fmt.Errorf("create ControllerRevision %s: %w", c.Create.Name, err)
		}
		p.Wrote(caches.Revisions, version)
	}
	if c.Raise != nil {
		data, err := raisePatch(c)
		if err != nil {
			return Unsettled, err
		}
		raised, err := p.revisions().Patch(ctx, c.Raise.Name, types.MergePatchType, data, metav1.PatchOptions{})
		if err != nil {
			return Unsettled, fmt.Errorf("raise ControllerRevision %s to %d: %w", c.Raise.Name, c.RaiseTo, err)
		}
		p.Wrote(caches.Revisions, raised.ResourceVersion)
	}
	return Settled, nil
}

// raisePatch is the merge patch that raises a revision.
func raisePatch(c *revision.Changes) ([]byte, error) {
	metadata := map[string]any{"uid": c.Raise.UID}
	if len(c.Annotate) > 0 {
		metadata["annotations"] = c.Annotate
	}
	data, err := json.Marshal(map[string]any{"metadata": metadata, "revision": c.RaiseTo})
	if err != nil {
		return nil, fmt.Errorf("raise ControllerRevision %s: %w", c.Raise.Name, err)
	}
	return data, nil
}

// RefusedRevision returns why the API server refused to create the update revision. It returns nil if err does not say so for
// certain, or if there is no current revision to go on with. (CT-9)
func RefusedRevision(c *revision.Changes, err error) error {
	var status apierrors.APIStatus
	if c.Create == nil || c.Current == c.Create || c.Missing != "" || !errors.As(err, &status) || inEndingNamespace(err) {
		return nil
	}
	code := status.Status().Code
	if code < http.StatusBadRequest || code >= http.StatusInternalServerError || Gone(err) ||
		code == http.StatusConflict || code == http.StatusRequestTimeout || code == http.StatusTooManyRequests {
		return nil
	}
	return summary(err)
}

// currentUnseen tells whether the current revision, which the history lacks, does exist.
// Then the cache of revisions is behind that of the workload. Pods that the partition
// holds back would be made at the update revision. The next reconcile waits until the
// cache is that far, and goes on with what it shows.
func (p *Sync) currentUnseen(ctx context.Context, name string, selector *metav1.LabelSelector) (bool, error) {
	const missing = "the current revision is missing"
	if !p.Begins(missing, name != "") {
		return false, nil
	}
	found, err := p.revisions().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		p.Begins(missing, false) // ask again
		return false, fmt.Errorf("read ControllerRevision %s, which the status names: %w", name, err)
	}
	if !p.finds(found, selector) || len(revision.Usable([]*appsv1.ControllerRevision{found})) == 0 {
		return false, nil
	}
	p.Wrote(caches.Revisions, found.ResourceVersion)
	return true, nil
}

// revisionExists looks at the revision that has the name already. With the
// same content it will be found in the next reconcile. With another content two
// templates have the same hash: the next reconcile counts one collision more. So it
// does if the revision is one that no reconcile of this workload will find or use.
func (p *Sync) revisionExists(
	ctx context.Context, wanted *appsv1.ControllerRevision, selector *metav1.LabelSelector, same func(found, wanted *appsv1.ControllerRevision) bool,
) (RevisionState, error) {
	found, err := p.revisions().Get(ctx, wanted.Name, metav1.GetOptions{})
	if err != nil {
		return Unsettled, fmt.Errorf("read ControllerRevision %s, which exists already: %w", wanted.Name, err)
	}
	if !p.finds(found, selector) || !same(found, wanted) { // one that it does not find collides, whatever is in it
		return Collided, nil
	}
	p.Wrote(caches.Revisions, found.ResourceVersion)
	return Unsettled, nil
}

// sameTemplate tells whether two revisions hold the same pod template.
func sameTemplate(found, wanted *appsv1.ControllerRevision) bool {
	next, err := revision.Next([]*appsv1.ControllerRevision{found}, wanted)
	return err == nil && next.Action != revision.Create // if wanted is of no pod template, only the same bytes are equal
}

// finds tells whether the next reconcile will find a revision.
func (p *Sync) finds(r *appsv1.ControllerRevision, selector *metav1.LabelSelector) bool {
	matcher, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		matcher = labels.Nothing()
	}
	return caches.IsControlledOrOrphaned(r, p.Workload.GetUID(), matcher)
}

// DeleteRevisions deletes revisions that nothing uses. One that has changed
// meanwhile stays: the next reconcile decides about it anew.
func (p *Sync) DeleteRevisions(ctx context.Context, surplus []*appsv1.ControllerRevision) error {
	if p.Gone { // the status that would not name them any more was not written, and pods may have been left behind
		return nil
	}
	var errs []error
	for _, r := range surplus {
		err := p.revisions().Delete(ctx, r.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion},
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			err = fmt.Errorf("delete ControllerRevision %s: %w", r.Name, err)
			p.RecordFailure(Delete, err)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
