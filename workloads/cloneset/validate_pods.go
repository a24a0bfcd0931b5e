// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// PodLookup finds a pod by name: the Get of a lister, of a cache or of a
// client. A pod that does not exist is a NotFound error, or nil without an error.
type PodLookup func(ctx context.Context, namespace, name string) (*corev1.Pod, error)

func validatePodsToDeleteNames(names []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if seen[name] {
			errs = append(errs, field.Duplicate(path.Index(i), name))
		}
		seen[name] = true
	}
	return errs
}

// ValidatePodsToDelete says which names were added to
// spec.scaleStrategy.podsToDelete that are not existing pods of this set, or
// are being deleted already. Names that the stored set old has are not looked
// up: such pods may be gone since. For a new set, old is nil and no name is right.
//
// The error is the lookup's, for want of an answer.
func ValidatePodsToDelete(ctx context.Context, set, old *v1alpha1.CloneSet, lookup PodLookup) (field.ErrorList, error) {
	uid, known := set.UID, []string(nil)
	if old != nil {
		uid, known = old.UID, old.Spec.ScaleStrategy.PodsToDelete
	}
	var errs field.ErrorList
	path := field.NewPath("spec", "scaleStrategy", "podsToDelete")
	for i, name := range set.Spec.ScaleStrategy.PodsToDelete {
		if slices.Contains(known, name) {
			continue
		}
		pod, err := lookup(ctx, set.Namespace, name)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("%s: look up pod %s/%s: %w", path.Index(i), set.Namespace, name, err)
		}
		if err != nil {
			pod = nil
		}
		if problem := podToDeleteProblem(pod, uid); problem != "" {
			errs = append(errs, field.Invalid(path.Index(i), name, problem))
		}
	}
	return errs, nil
}

// podToDeleteProblem says why a pod cannot be chosen for deletion; "" if it can.
func podToDeleteProblem(pod *corev1.Pod, owner types.UID) string {
	switch {
	case pod == nil:
		return "must be the name of an existing pod, and there is none of this name"
	case pod.DeletionTimestamp != nil:
		return "must be a pod that is not being deleted already"
	}
	controller := metav1.GetControllerOfNoCopy(pod)
	switch {
	case controller == nil:
		return "must be a pod of this CloneSet, and it has no controller"
	case controller.UID != owner:
		return fmt.Sprintf("must be a pod of this CloneSet, and it belongs to %s %s with UID %s", controller.Kind, controller.Name, controller.UID)
	}
	return ""
}
