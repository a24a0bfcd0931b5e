// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
)

// ReasonNotMirrored is the reason of a Warning about a budget that asks for a PodDisruptionBudget and cannot
// have one. (PUB-32)
const ReasonNotMirrored = "NotMirrored"

// mirror writes the PodDisruptionBudget that shows the budget.
func (a *applier) mirror(ctx context.Context) error {
	client := a.options.Kubernetes.PolicyV1().PodDisruptionBudgets(a.Key.Namespace)
	switch p := a.plan; {
	case p.CreateMirror != nil:
		return a.createMirror(ctx)
	case p.UpdateMirror != nil:
		// In whatever state: the disruption controller writes the status of its own accord.
		data, err := apply.FieldPatch("spec", apply.Observed{UID: p.UpdateMirror.UID}, &a.snapshot.named().Spec, &p.UpdateMirror.Spec)
		if err != nil {
			return err
		}
		return a.PutBack("PodDisruptionBudget "+a.Key.Name, apply.Wanted(data), func() error {
			updated, err := client.Patch(ctx, a.Key.Name, types.MergePatchType, data, metav1.PatchOptions{})
			if apierrors.IsNotFound(err) {
				return nil // the cache will show it
			}
			if err != nil {
				return fmt.Errorf("update PodDisruptionBudget %s: %w", a.Key.Name, a.Unanswered(ResourcePodDisruptionBudgets, a.Key.Name, err))
			}
			a.Wrote(ResourcePodDisruptionBudgets, updated.ResourceVersion)
			return nil
		})
	case p.DeleteMirror != nil && a.deletedMirrors.Get(a.Key) != p.DeleteMirror.UID: // the answer does not say until when a cache shows it
		uid := p.DeleteMirror.UID
		err := client.Delete(ctx, a.Key.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete PodDisruptionBudget %s: %w", a.Key.Name, err)
		}
		a.deletedMirrors.Set(a.Key, uid)
	}
	return nil
}

func (a *applier) createMirror(ctx context.Context) error {
	mirror := a.plan.CreateMirror
	err := a.creations.Create(a.budget, func() error {
		created, err := a.options.Kubernetes.PolicyV1().PodDisruptionBudgets(mirror.Namespace).Create(ctx, mirror, metav1.CreateOptions{})
		if err == nil {
			a.Wrote(ResourcePodDisruptionBudgets, created.ResourceVersion)
			a.Own.Created(a.Key, apiwriter.Creation{Resource: ResourcePodDisruptionBudgets, Name: mirror.Name, Owner: a.budget.UID})
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create PodDisruptionBudget %s: %w", mirror.Name, a.Unanswered(ResourcePodDisruptionBudgets, mirror.Name, err))
	}
	return nil
}
