package statefulset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/podplan"
)

// movePods carries out the stages of the plan.
func (a *applier) movePods(ctx context.Context) error {
	return a.CarryOut(ctx, &a.plan.Stages, func(ctx context.Context, stage *rollout.Stage) error {
		return errors.Join(a.deletePods(ctx, stage.Delete), a.patchPods(ctx, stage.Patch), a.createPods(ctx, stage.Create))
	})
}

// createClaims creates claims that pods wait for.
func (a *applier) createClaims(ctx context.Context) error {
	return a.failures.Add(failedCreate, apply.Each(ctx, a.plan.CreateClaims, a.CreateClaim))
}

// createPods creates pods with their claims.
func (a *applier) createPods(ctx context.Context, creations []rollout.PodCreation) error {
	return a.failures.Add(failedCreate, a.CreatePods(ctx, creations))
}

// deletePods deletes pods, each after its claims have been told.
func (a *applier) deletePods(ctx context.Context, deletions []rollout.PodDeletion) error {
	return a.failures.Add(failedUpdate, apply.Each(ctx, deletions, a.deletePod))
}

func (a *applier) deletePod(ctx context.Context, d rollout.PodDeletion) error {
	for _, claim := range d.ChangeClaims {
		if err := a.changeClaim(ctx, claim); err != nil {
			return fmt.Errorf("delete pod %s: %w", d.Pod.Name, err)
		}
	}
	if d.For == rollout.DeleteFailed {
		a.Event(corev1.EventTypeWarning, "RecreatingFailedPod", "Pod %s has ended (%s) and is recreated", d.Pod.Name, d.Pod.Status.Phase)
	}
	if d.Unchanged {
		return a.DeletePodUnchanged(ctx, d.Pod, apply.Delete)
	}
	err := a.DeletePod(ctx, d.Pod, apply.Delete)
	if err == nil && d.For == rollout.DeleteFailed && !podplan.HasRun(d.Pod) {
		a.places.Replaced(a.Key, d.Pod.Name, a.clock.Now())
	}
	return err
}

// patchPods changes pods.
func (a *applier) patchPods(ctx context.Context, patches []rollout.PodPatch) error {
	return a.failures.Add(failedUpdate, a.PatchPods(ctx, patches, nil))
}

// changeClaims changes the owners of claims.
func (a *applier) changeClaims(ctx context.Context) error {
	return a.failures.Add(failedUpdate, apply.Each(ctx, a.plan.PatchClaims, a.changeClaim))
}

// changeClaim gives a claim its owners.
func (a *applier) changeClaim(ctx context.Context, c rollout.ClaimPatch) error {
	if err := a.ChangeClaim(ctx, c); err != nil {
		a.Event(corev1.EventTypeWarning, "FailedUpdate", "%v", err)
		return err
	}
	return nil
}

// message is the text of the event about a write.
func message(o apply.Outcome) string {
	if o.Deed == apply.UpdateInPlace {
		return apply.Plain(o)
	}
	what := "Pod " + o.Pod
	if o.Claim != "" {
		what = strings.TrimSpace("Claim " + o.Claim + " " + strings.TrimSuffix(what, "Pod "))
	}
	text := fmt.Sprintf("%s %s in StatefulSet %s", strings.ToLower(string(o.Deed)), what, o.Workload)
	if o.Err != nil {
		return fmt.Sprintf("%s failed error: %v", text, o.Err)
	}
	return text + " successful"
}
