package statefulset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// createPods creates claims that pods wait for, and pods.
func (a *applier) createPods(ctx context.Context) error {
	err := errors.Join(
		apply.Each(ctx, a.plan.CreateClaims, a.CreateClaim),
		a.CreatePods(ctx, a.plan.Create))
	return a.failures.Add(v1beta1.StatefulSetConditionFailedCreatePod, err)
}

// deletePods deletes pods, each after its claims have been told.
func (a *applier) deletePods(ctx context.Context) error {
	return a.failures.Add(v1beta1.StatefulSetConditionFailedUpdatePod, apply.Each(ctx, a.plan.Delete, a.deletePod))
}

func (a *applier) deletePod(ctx context.Context, d PodDeletion) error {
	for _, claim := range d.Claims {
		if err := a.changeClaim(ctx, claim); err != nil {
			return fmt.Errorf("delete pod %s: %w", d.Pod.Name, err)
		}
	}
	if d.For == DeleteFailed {
		a.Event(corev1.EventTypeWarning, "RecreatingFailedPod", "Pod %s has ended (%s) and is recreated", d.Pod.Name, d.Pod.Status.Phase)
	}
	return a.DeletePod(ctx, d.Pod, apply.Delete)
}

// patchPods changes pods.
func (a *applier) patchPods(ctx context.Context) error {
	return a.failures.Add(v1beta1.StatefulSetConditionFailedUpdatePod, a.PatchPods(ctx, a.plan.Patch, nil))
}

// changeClaims changes the owners of claims.
func (a *applier) changeClaims(ctx context.Context) error {
	return a.failures.Add(v1beta1.StatefulSetConditionFailedUpdatePod, apply.Each(ctx, a.plan.PatchClaims, a.changeClaim))
}

// changeClaim gives a claim its owners.
func (a *applier) changeClaim(ctx context.Context, c ClaimPatch) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": c.Claim.UID, "ownerReferences": ownerChanges(c.Claim.OwnerReferences, c.Owners),
	}})
	if err != nil {
		return err
	}
	if err := a.PatchClaim(ctx, c.Claim, data); err != nil {
		err = fmt.Errorf("change the owners of claim %s: %w", c.Claim.Name, err)
		a.Event(corev1.EventTypeWarning, "FailedUpdate", "%v", err)
		return err
	}
	return nil
}

// ownerChanges is a list of owners in the form of a strategic-merge patch: what
// others add meanwhile stays.
func ownerChanges(before, after []metav1.OwnerReference) (changes []any) {
	has := func(list []metav1.OwnerReference, of metav1.OwnerReference) bool {
		return slices.ContainsFunc(list, func(o metav1.OwnerReference) bool { return o.UID == of.UID })
	}
	for _, owner := range before {
		if !has(after, owner) {
			changes = append(changes, map[string]any{"$patch": "delete", "uid": owner.UID})
		}
	}
	for _, owner := range after {
		if !has(before, owner) {
			changes = append(changes, owner)
		}
	}
	return changes
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
