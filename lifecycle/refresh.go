// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// RefreshInput is what Refresh cannot see from the pod and the hooks.
type RefreshInput struct {
	// AtTarget says that the pod has the revision that it should have: its
	// revision label equals the update revision, or the partition holds it back.
	AtTarget bool
	// InPlaceComplete says that the pod's in-place update, if it ever had one,
	// is complete.
	InPlaceComplete bool
}

// Refresh brings the pod to the state that its hooks and its in-place update
// have reached, at most one state further. It returns whether there is
// anything to write. Call it for every pod in every reconcile:
//
//	PreparingNormal  preNormal is nil or met               ⇒ Normal
//	PreparingUpdate  the pod is at its target already      ⇒ Updated or Normal
//	Updating         the in-place update is complete       ⇒ Updated or Normal
//	Updated          inPlaceUpdate is nil or met           ⇒ Normal
//
// Here "Updated or Normal" is Normal if inPlaceUpdate is nil or met. A nil
// lifecycle has no hooks. In every other case the state stays. A pod that is
// settled (Normal, or without a state) costs no allocation.
//
// A pod in PreparingNormal does not wait for its readiness, and one that is
// updated before it was Normal is not asked for preNormal again.
func Refresh(p *podpatch.Patch, pod *corev1.Pod, l *v1alpha1.Lifecycle, in RefreshInput, now time.Time) (changed bool) {
	state := stateAfter(p, pod)
	next := nextState(state, pod, l, in)
	if next != state {
		SetState(p, pod, next, now)
		changed = true
	}
	switch next {
	case v1alpha1.StateNormal, "":
		changed = returnToService(p, pod, now, preUpdateKey, preDeleteKey) || changed
	case v1alpha1.StateUpdated:
		changed = returnToService(p, pod, now, preUpdateKey) || changed
	}
	return changed
}

// Unbound tells whether a pod is in PreparingNormal for nothing but a node: no preNormal hook holds it, and it is not bound
// yet. Controllers that leave such a pod alone write nothing between its creation and its binding. (LC-30)
func Unbound(pod *corev1.Pod, l *v1alpha1.Lifecycle) bool {
	return StateOf(pod) == v1alpha1.StatePreparingNormal && pod.Spec.NodeName == "" && (l == nil || l.PreNormal == nil)
}

// nextState is the state that Refresh brings a pod to (LC-8, LC-10, LC-11, LC-12).
func nextState(state v1alpha1.StateType, pod *corev1.Pod, l *v1alpha1.Lifecycle, in RefreshInput) v1alpha1.StateType {
	switch state {
	case v1alpha1.StatePreparingNormal:
		if l == nil || l.PreNormal == nil || HookedAll(l.PreNormal, pod) {
			return v1alpha1.StateNormal
		}
	case v1alpha1.StatePreparingUpdate:
		if in.AtTarget {
			return afterUpdate(pod, l)
		}
	case v1alpha1.StateUpdating:
		if in.InPlaceComplete {
			return afterUpdate(pod, l)
		}
	case v1alpha1.StateUpdated:
		return afterUpdate(pod, l)
	}
	return state
}

// afterUpdate is the state of a pod whose in-place update is over.
func afterUpdate(pod *corev1.Pod, l *v1alpha1.Lifecycle) v1alpha1.StateType {
	if l == nil || l.InPlaceUpdate == nil || HookedAll(l.InPlaceUpdate, pod) {
		return v1alpha1.StateNormal
	}
	return v1alpha1.StateUpdated
}
