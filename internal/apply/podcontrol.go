// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
)

// PodControl writes single pods of a plan. An Applier is one. A kind that has to do more about a pod, or to know what became
// of it, has a method of its own. That calls the method of its Applier. ApplyPods calls them, for several pods at a time.
type PodControl interface {
	// Create creates a pod with its claims. It is called in batches, of which a failure is the last. CloneSets note which claims the
	// pod reuses, and give up a name that is taken; DaemonSets remember the node, or the name.
	Create(ctx context.Context, c *rollout.PodCreation) error
	// Delete deletes a pod, and tells whether it has: it may be gone already. It is called after a budget has allowed that, and after
	// the claims say whose they are. CloneSets then delete claims; StatefulSets and DaemonSets remember pods that have ended.
	Delete(ctx context.Context, d *rollout.PodDeletion) (deleted bool, err error)
	// Patch sends a patch. It is called after a budget has allowed that, and not while another writer takes it back each time.
	// SidecarSets record events about the pod; DaemonSets remember that it is out of service.
	Patch(ctx context.Context, p *rollout.PodPatch) error
}

// Create creates a pod with its claims.
func (a *Applier[S]) Create(ctx context.Context, c *rollout.PodCreation) error {
	if err := a.Sync.CreateClaimsOf(ctx, c); err != nil {
		return err
	}
	return a.Sync.CreatePod(ctx, c.Pod)
}

// Delete deletes a pod. An event tells of one that has ended.
func (a *Applier[S]) Delete(ctx context.Context, d *rollout.PodDeletion) (deleted bool, err error) {
	if d.For == rollout.DeleteFailed {
		a.Sync.Event(corev1.EventTypeWarning, "RecreatingFailedPod", "Pod %s has ended (%s) and is recreated", d.Pod.Name, d.Pod.Status.Phase)
	}
	return a.Remove(ctx, d)
}

// Remove is Delete without the event about a pod that has ended.
func (a *Applier[S]) Remove(ctx context.Context, d *rollout.PodDeletion) (deleted bool, err error) {
	action, remove := Delete, a.Sync.DeletePod
	if d.For == rollout.DeleteForUpdate && a.Reporting.Recreates {
		action = Recreate
	}
	if d.Unchanged {
		remove = a.Sync.DeletePodUnchanged
	}
	deleted, err = remove(ctx, d.Pod, action)
	if d.For == rollout.DeleteForUpdate {
		a.updated(d.Pod, err)
	}
	if err == nil && d.For == rollout.DeleteUnselected {
		err = a.Sync.unselected(d.Pod)
	}
	return deleted, err
}

// Patch sends a patch of a pod.
func (a *Applier[S]) Patch(ctx context.Context, p *rollout.PodPatch) error {
	return a.Sync.PatchPod(ctx, p)
}

// ApplyPods applies the stages of the plan by a control, which is the kind's. (CS-16)
func (a *Applier[S]) ApplyPods(ctx context.Context, control PodControl) error {
	if selector, err := metav1.LabelSelectorAsSelector(a.Selector); err == nil && !selector.Empty() {
		a.Sync.Selected = selector
	}
	return a.Sync.applyStages(ctx, &a.Plan.Stages, func(ctx context.Context, stage *rollout.Stage) error {
		return errors.Join(a.deletePods(ctx, control, stage), a.patchPods(ctx, control, stage),
			a.failures.Add(a.Reporting.FailedCreate, a.Sync.CreatePods(ctx, stage.Create, control.Create)))
	})
}

// deletePods deletes pods with what goes with them. (CS-24)
func (a *Applier[S]) deletePods(ctx context.Context, control PodControl, stage *rollout.Stage) error {
	if len(stage.Delete) == 0 {
		return nil
	}
	reason := stage.Delete[len(stage.Delete)-1].For // if it matters, a stage deletes for one reason, beside pods that are none
	turns := newTurns(len(stage.Delete))
	err := apiwriter.Each(ctx, len(stage.Delete), atOnce, func(i int) error { return a.deletePod(ctx, control, turns, i, &stage.Delete[i]) })
	if reason == rollout.DeleteForUpdate {
		return a.failedUpdates(err)
	}
	return a.failures.Add(a.Reporting.FailedDelete, err)
}

// deletePod deletes a pod, if that is allowed, after its claims say whose they are.
func (a *Applier[S]) deletePod(ctx context.Context, control PodControl, turns *turns, i int, d *rollout.PodDeletion) error {
	if d.For != rollout.DeleteForUpdate {
		turns.end(i)
		a.updates.tries(d.Pod)
	} else if allowed, err := a.mayUpdate(ctx, turns, i, d.Pod); !allowed || err != nil {
		return err
	}
	for _, claim := range d.ChangeClaims {
		if err := a.changeClaim(ctx, claim); err != nil {
			return fmt.Errorf("delete pod %s: %w", d.Pod.Name, err)
		}
	}
	_, err := control.Delete(ctx, d)
	return err
}

// patchPods changes pods, those to be updated as far as that is allowed. (CS-32)
func (a *Applier[S]) patchPods(ctx context.Context, control PodControl, stage *rollout.Stage) error {
	turns := newTurns(len(stage.Patch))
	return a.failedUpdates(apiwriter.Each(ctx, len(stage.Patch), atOnce, func(i int) error {
		defer turns.end(i) // also if it is not asked about, as a write that another writer takes back (CT-12)
		p := &stage.Patch[i]
		return a.Sync.putPod(p, func() error { return a.patchPod(ctx, control, turns, i, p) })
	}))
}

// patchPod changes a pod, if that is allowed.
func (a *Applier[S]) patchPod(ctx context.Context, control PodControl, turns *turns, i int, p *rollout.PodPatch) error {
	if !p.ForUpdate || p.InService {
		turns.end(i)
	} else if allowed, err := a.mayUpdate(ctx, turns, i, p.Pod); !allowed || err != nil {
		return cmp.Or(err, apiwriter.ErrNotSent)
	}
	err := apiwriter.Safely(ctx, func() error { return control.Patch(ctx, p) })
	if p.Tries() {
		a.updated(asLeft(p, err), err)
	}
	return err
}
