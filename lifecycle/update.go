// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// UpdateStep is what BeginUpdate decided.
type UpdateStep int

const (
	// UpdateNone means that the pod is not to be updated now, and that nothing
	// was put into the patch.
	UpdateNone UpdateStep = iota
	// UpdateStart means that the in-place update starts now: the caller adds it
	// to the patch, which holds the state Updating already.
	UpdateStart
	// UpdateHold means that the inPlaceUpdate hook holds the pod: it is, or
	// with the patch becomes, PreparingUpdate.
	UpdateHold
	// UpdateRearm means that the pod waited for its inPlaceUpdate hook after an
	// earlier update. With the patch it becomes PreparingUpdate and gets the
	// hook's labels and finalizers, so that the hook holds it.
	UpdateRearm
)

// String returns the name of the step, for logs and test output.
func (s UpdateStep) String() string {
	switch s {
	case UpdateNone:
		return "None"
	case UpdateStart:
		return "Start"
	case UpdateHold:
		return "Hold"
	case UpdateRearm:
		return "Rearm"
	default:
		return fmt.Sprintf("UpdateStep(%d)", int(s))
	}
}

// BeginUpdate decides the next step of a pod that is to be updated in place and
// can be. The reason says in words why the update does not start. It is empty
// with UpdateStart. atTarget says that the pod's revision label equals the
// update revision. Then there is nothing to update.
//
//	no state, Normal, PreparingNormal   hook holds ⇒ UpdateHold, else UpdateStart
//	PreparingUpdate                     hook holds ⇒ UpdateHold, else UpdateStart
//	Updating                            UpdateStart, with the newer revision
//	Updated                             UpdateRearm; UpdateNone without a hook
//	PreparingDelete, anything else      UpdateNone
//
// With UpdateStart the patch brings the pod to Updating. A StatefulSet, which
// writes no state on a pod that has none, needs no BeginUpdate if StateOf is
// empty and HookedAny is false.
//
// If the hook says markPodNotReady, a pod held in PreparingUpdate is taken
// out of service.
func BeginUpdate(p *podpatch.Patch, pod *corev1.Pod, l *v1alpha1.Lifecycle, atTarget bool, now time.Time) (UpdateStep, string) {
	var hook *v1alpha1.LifecycleHook
	if l != nil {
		hook = l.InPlaceUpdate
	}
	if atTarget {
		return UpdateNone, "the pod is at the update revision already"
	}
	switch state := stateAfter(p, pod); state {
	case "", v1alpha1.StateNormal, v1alpha1.StatePreparingNormal, v1alpha1.StatePreparingUpdate:
		if HookedAny(hook, pod) {
			prepareUpdate(p, pod, hook, now)
			return UpdateHold, holding("inPlaceUpdate", hook, pod)
		}
	case v1alpha1.StateUpdating:
	case v1alpha1.StateUpdated:
		if hook == nil {
			return UpdateNone, "the pod leaves the state Updated first"
		}
		rearm(p, pod, hook, now)
		return UpdateRearm, "the inPlaceUpdate hook of the earlier update is still open; the pod gets its labels and finalizers back and waits for the hook again"
	case v1alpha1.StatePreparingDelete:
		return UpdateNone, "the pod waits to be deleted (state PreparingDelete)"
	default:
		return UpdateNone, fmt.Sprintf("label %s has the unknown value %q; remove the label to let the pod be updated", v1alpha1.StateLabel, state)
	}
	SetState(p, pod, v1alpha1.StateUpdating, now)
	return UpdateStart, ""
}

// prepareUpdate lets the hook's owner prepare the pod (LC-9, LC-25).
func prepareUpdate(p *podpatch.Patch, pod *corev1.Pod, hook *v1alpha1.LifecycleHook, now time.Time) {
	if hook.MarkPodNotReady {
		readiness.Add(p, pod, preUpdateKey, now)
	}
	SetState(p, pod, v1alpha1.StatePreparingUpdate, now)
}

// rearm also gives the pod back what its owner had taken off (LC-17).
func rearm(p *podpatch.Patch, pod *corev1.Pod, hook *v1alpha1.LifecycleHook, now time.Time) {
	prepareUpdate(p, pod, hook, now)
	for k, v := range hook.LabelsHandler {
		p.SetLabel(k, v)
	}
	p.AddFinalizers = append(p.AddFinalizers, hook.FinalizersHandler...)
}
