// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// BeginDelete decides the next step of a pod that is to be deleted. It returns
// true when the pod is to be deleted now. Otherwise the preDelete hook holds the
// pod. With the patch it is in state PreparingDelete, out of service if the
// hook says markPodNotReady, and the reason says in words what holds it.
//
// Call it again in every reconcile, also for a pod in PreparingDelete.
// As soon as the hook releases the pod, or is removed from the workload, the answer is
// true. For a pod that is being deleted already the answer is false and the
// patch stays unchanged. A nil lifecycle has no hooks.
//
// Hooks hold back the workload alone: a pod that another client deletes is
// deleted.
func BeginDelete(p *podpatch.Patch, pod *corev1.Pod, l *v1alpha1.Lifecycle, now time.Time) (deleteNow bool, reason string) {
	if pod.DeletionTimestamp != nil {
		return false, "the pod is being deleted already"
	}
	if l == nil || !HookedAny(l.PreDelete, pod) {
		return true, ""
	}
	if l.PreDelete.MarkPodNotReady {
		readiness.Add(p, pod, preDeleteKey, now)
	}
	SetState(p, pod, v1alpha1.StatePreparingDelete, now)
	return false, holding("preDelete", l.PreDelete, pod)
}

// CancelAllowed tells whether pods in PreparingDelete may stay after all. It
// is false when markPodNotReady is set on preDelete or on inPlaceUpdate: such a
// pod has been taken out of service for good. It is deleted when its hook
// releases it, and replaced then.
//
// That inPlaceUpdate counts as well is the long-standing behaviour that users
// see; which pods stay is as it was.
func CancelAllowed(l *v1alpha1.Lifecycle) bool {
	return l == nil || !marksNotReady(l.PreDelete) && !marksNotReady(l.InPlaceUpdate)
}

func marksNotReady(h *v1alpha1.LifecycleHook) bool { return h != nil && h.MarkPodNotReady }

// CancelDelete cancels the deletion of a pod in state PreparingDelete, since the workload
// wants more replicas again. It goes back to PreparingNormal, and on to Normal by
// Refresh. Keys left by hooks are removed, so that it can become ready. CancelDelete
// returns false, with the patch as it was, for a pod in another state, and if
// CancelAllowed is false. It does the same for a pod that is being deleted or has the
// label SpecifiedDeleteLabel.
//
// The caller leaves out pods whose deletion the workload's own spec asks for by
// name, and stops after CancelNeeded pods.
func CancelDelete(p *podpatch.Patch, pod *corev1.Pod, l *v1alpha1.Lifecycle, now time.Time) bool {
	if !CancelAllowed(l) || pod.DeletionTimestamp != nil || stateAfter(p, pod) != v1alpha1.StatePreparingDelete {
		return false
	}
	if _, specified := pod.Labels[v1alpha1.SpecifiedDeleteLabel]; specified {
		return false
	}
	SetState(p, pod, v1alpha1.StatePreparingNormal, now)
	returnToService(p, pod, now, preUpdateKey, preDeleteKey)
	return true
}

// CancelNeeded returns how many deletions CancelDelete should cancel. Of its arguments, replicas is the
// number wanted, owned that of all active pods of the workload (those in
// PreparingDelete among them). The third, specifiedOrPreparing, is that of the distinct pods
// that are to be deleted by name or label or are in PreparingDelete. Never
// negative.
func CancelNeeded(replicas, owned, specifiedOrPreparing int) int {
	return max(replicas-owned+specifiedOrPreparing, 0)
}
