package cloneset

import (
	"context"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
)

// movePods carries out the stages of the plan. (CS-16)
func (a *applier) movePods(ctx context.Context) error {
	if p := a.plan; a.Begins("ScaleUpLimited", p.Moves.Create < p.Moves.ScaleUp) {
		a.Event(corev1.EventTypeWarning, "ScaleUpLimited", "%d of %d missing pods are created now, scaleStrategy.maxUnavailable holds back the others",
			p.Moves.Create, p.Moves.ScaleUp)
	}
	return a.CarryOut(ctx, &a.plan.Stages, func(ctx context.Context, stage *rollout.Stage) error {
		return errors.Join(a.deletePods(ctx, stage.Delete), a.patchPods(ctx, stage.Patch), a.createPods(ctx, stage.Create))
	})
}

// createPods creates pods. (CS-19)
func (a *applier) createPods(ctx context.Context, creations []rollout.PodCreation) error {
	return a.failures.Add(failedScale, a.CreatePods(ctx, creations))
}

// deletePods deletes pods with their claims. (CS-24)
func (a *applier) deletePods(ctx context.Context, deletions []rollout.PodDeletion) error {
	err := apply.Each(ctx, deletions, a.deletePod)
	if err != nil && deletions[0].For == rollout.DeleteForUpdate { // a stage deletes for one or the other
		return a.failures.Add(failedUpdate, err)
	}
	return a.failures.Add(failedScale, err)
}

func (a *applier) deletePod(ctx context.Context, d rollout.PodDeletion) error {
	deed := apply.Delete
	if d.For == rollout.DeleteForUpdate {
		deed = apply.Recreate
		if allowed, err := a.gate.allow(ctx, d.Pod); !allowed || err != nil {
			return err
		}
	}
	remove := a.DeletePod
	if d.Unchanged {
		remove = a.DeletePodUnchanged
	}
	if err := remove(ctx, d.Pod, deed); err != nil {
		return err
	}
	var errs []error
	for _, claim := range d.DeleteClaims {
		errs = append(errs, a.DeleteClaim(ctx, claim))
	}
	return errors.Join(errs...)
}

// patchPods changes pods, those to be updated as far as the budget allows it. (CS-32)
func (a *applier) patchPods(ctx context.Context, patches []rollout.PodPatch) error {
	allow := func(ctx context.Context, p *rollout.PodPatch) (bool, error) {
		if p.Kind != rollout.PatchUpdateInPlace {
			return true, nil
		}
		return a.gate.allow(ctx, p.Pod)
	}
	return a.failures.Add(failedUpdate, a.PatchPods(ctx, patches, allow))
}

// budgetGate asks the budget about pods, one at a time, until it has refused one.
type budgetGate struct {
	budget  Budget
	lock    sync.Mutex
	refused bool
}

// allow tells whether a pod may be updated.
func (g *budgetGate) allow(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if g.budget == nil {
		return true, nil
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.refused {
		return false, nil
	}
	allowed, err := g.budget.AllowUpdate(ctx, pod)
	g.refused = !allowed || err != nil
	return allowed, err
}
