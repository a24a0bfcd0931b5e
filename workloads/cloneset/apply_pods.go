package cloneset

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/parallel"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// createPods creates pods in batches of 1, 2, 4 and so on; a failure ends it,
// since the next pod would most likely fail for the same reason. (rule 19)
func (a *applier) createPods(ctx context.Context) error {
	if p := a.plan; p.Moves.Create < p.Moves.ScaleUp {
		a.event(corev1.EventTypeWarning, "ScaleUpLimited", "%d of %d missing pods are created now, scaleStrategy.maxUnavailable holds back the others",
			p.Moves.Create, p.Moves.ScaleUp)
	}
	_, err := parallel.SlowStart(ctx, len(a.plan.Create), parallelWrites, func(i int) error {
		return a.createPod(ctx, a.plan.Create[i])
	})
	return a.failed(v1alpha1.CloneSetConditionFailedScale, err)
}

func (a *applier) createPod(ctx context.Context, c rollout.PodCreation) error {
	for _, claim := range c.Claims {
		version, err := a.claims.Create(ctx, claim)
		if apierrors.IsAlreadyExists(err) {
			continue
		}
		if err != nil {
			a.event(corev1.EventTypeWarning, "FailedCreate", "create claim %s: %v", claim.Name, err)
			return fmt.Errorf("create claim %s: %w", claim.Name, a.unanswered(ResourceClaims, claim.Name, err))
		}
		a.wroteAt(ResourceClaims, version)
		a.event(corev1.EventTypeNormal, "SuccessfulCreate", "created claim %s", claim.Name)
	}
	version, err := a.pods.Create(ctx, c.Pod)
	if apierrors.IsAlreadyExists(err) { // perhaps made by a request of ours that the cache does not show yet
		a.own.Lost(a.key, ResourcePods, c.Pod.Name)
	}
	if err != nil {
		a.event(corev1.EventTypeWarning, "FailedCreate", "create pod %s: %v", c.Pod.Name, err)
		return &creationError{name: c.Pod.Name, err: a.unanswered(ResourcePods, c.Pod.Name, err)}
	}
	a.wroteAt(ResourcePods, version)
	a.event(corev1.EventTypeNormal, "SuccessfulCreate", "created pod %s", c.Pod.Name)
	return nil
}

// deletePods deletes pods with their claims. (rule 24)
func (a *applier) deletePods(ctx context.Context) error {
	err := parallel.Each(ctx, len(a.plan.Delete), parallelWrites, func(i int) error {
		return a.deletePod(ctx, a.plan.Delete[i])
	})
	if err != nil && a.plan.Delete[0].ForUpdate { // a pass deletes for one or the other
		return a.failed(v1alpha1.CloneSetConditionFailedUpdate, err)
	}
	return a.failed(v1alpha1.CloneSetConditionFailedScale, err)
}

func (a *applier) deletePod(ctx context.Context, d PodDeletion) error {
	if d.ForUpdate {
		if allowed, err := a.gate.allow(ctx, d.Pod); !allowed || err != nil {
			return err
		}
	}
	success, failure := "SuccessfulDelete", "FailedDelete"
	if d.ForUpdate {
		success, failure = "SuccessfulUpdatePodReCreate", "FailedUpdatePodReCreate"
	}
	version, err := a.pods.Delete(ctx, d.Pod)
	if err != nil {
		a.event(corev1.EventTypeWarning, failure, "delete pod %s: %v", d.Pod.Name, err)
		return fmt.Errorf("delete pod %s: %w", d.Pod.Name, a.unanswered(ResourcePods, d.Pod.Name, err))
	}
	if version != "" { // otherwise somebody else has deleted it
		a.wroteAt(ResourcePods, version)
		a.event(corev1.EventTypeNormal, success, "deleted pod %s", d.Pod.Name)
	}
	var errs []error
	for _, claim := range d.Claims {
		errs = append(errs, a.deleteClaim(ctx, claim))
	}
	return errors.Join(errs...)
}

// patchPods changes pods.
func (a *applier) patchPods(ctx context.Context) error {
	err := parallel.Each(ctx, len(a.plan.Patch), parallelWrites, func(i int) error {
		return a.patchPod(ctx, &a.plan.Patch[i])
	})
	return a.failed(v1alpha1.CloneSetConditionFailedUpdate, err)
}

func (a *applier) patchPod(ctx context.Context, p *rollout.PodPatch) error {
	if p.Kind == rollout.PatchUpdateInPlace {
		if allowed, err := a.gate.allow(ctx, p.Pod); !allowed || err != nil {
			return err
		}
	}
	writes, err := p.Patch.Writes(p.Pod)
	if err != nil {
		return err
	}
	for _, w := range writes {
		version, err := a.pods.Patch(ctx, p.Pod, w.Subresource, types.StrategicMergePatchType, w.Data)
		if err != nil && gone(err) {
			return nil // the cache will show it
		}
		if err != nil {
			if p.Kind == rollout.PatchUpdateInPlace && !apierrors.IsConflict(err) {
				a.event(corev1.EventTypeWarning, "FailedUpdatePodInPlace", "update pod %s in place: %v", p.Pod.Name, err)
			}
			return fmt.Errorf("patch pod %s (%s): %w", p.Pod.Name, p.Kind, a.unanswered(ResourcePods, p.Pod.Name, err))
		}
		a.wroteAt(ResourcePods, version)
	}
	if p.Kind == rollout.PatchUpdateInPlace {
		a.event(corev1.EventTypeNormal, "SuccessfulUpdatePodInPlace", "started to update pod %s in place", p.Pod.Name)
	}
	return nil
}
