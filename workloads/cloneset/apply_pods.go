package cloneset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// createPods creates pods. (rules 16 and 19)
func (a *applier) createPods(ctx context.Context) error {
	if p := a.plan; a.Begins("ScaleUpLimited", p.Moves.Create < p.Moves.ScaleUp) {
		a.Event(corev1.EventTypeWarning, "ScaleUpLimited", "%d of %d missing pods are created now, scaleStrategy.maxUnavailable holds back the others",
			p.Moves.Create, p.Moves.ScaleUp)
	}
	return a.failures.Add(v1alpha1.CloneSetConditionFailedScale, a.CreatePods(ctx, a.plan.Create))
}

// deletePods deletes pods with their claims. (rule 24)
func (a *applier) deletePods(ctx context.Context) error {
	err := apply.Each(ctx, a.plan.Delete, a.deletePod)
	if err != nil && a.plan.Delete[0].ForUpdate { // a pass deletes for one or the other
		return a.failures.Add(v1alpha1.CloneSetConditionFailedUpdate, err)
	}
	return a.failures.Add(v1alpha1.CloneSetConditionFailedScale, err)
}

func (a *applier) deletePod(ctx context.Context, d PodDeletion) error {
	deed := apply.Delete
	if d.ForUpdate {
		deed = apply.Recreate
		if allowed, err := a.gate.allow(ctx, d.Pod); !allowed || err != nil {
			return err
		}
	}
	if err := a.DeletePod(ctx, d.Pod, deed); err != nil {
		return err
	}
	var errs []error
	for _, claim := range d.Claims {
		errs = append(errs, a.DeleteClaim(ctx, claim))
	}
	return errors.Join(errs...)
}

// patchPods changes pods, those to be updated as far as the budget allows it. (rule 32)
func (a *applier) patchPods(ctx context.Context) error {
	allow := func(ctx context.Context, p *rollout.PodPatch) (bool, error) {
		if p.Kind != rollout.PatchUpdateInPlace {
			return true, nil
		}
		return a.gate.allow(ctx, p.Pod)
	}
	return a.failures.Add(v1alpha1.CloneSetConditionFailedUpdate, a.PatchPods(ctx, a.plan.Patch, allow))
}

// letClaimsGo lets go of claims whose pods are gone.
func (a *applier) letClaimsGo(ctx context.Context) error {
	return errors.Join(
		apply.Each(ctx, a.plan.HandOver, a.handOver),
		apply.Each(ctx, a.plan.DeleteClaims, a.DeleteClaim))
}

// handOver replaces the CloneSet as the owner of a claim by the pod.
func (a *applier) handOver(ctx context.Context, h ClaimHandOver) error {
	owner := metav1.NewControllerRef(h.Pod, corev1.SchemeGroupVersion.WithKind("Pod"))
	owner.BlockOwnerDeletion = nil
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             h.Claim.UID,
		"ownerReferences": []any{map[string]any{"$patch": "delete", "uid": a.set.UID}, owner},
	}})
	if err != nil {
		return err
	}
	if err := a.PatchClaim(ctx, h.Claim, data); err != nil {
		err = fmt.Errorf("hand claim %s over to pod %s: %w", h.Claim.Name, h.Pod.Name, err)
		a.Event(corev1.EventTypeWarning, "FailedUpdate", "%v", err)
		return err
	}
	return nil
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
