// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Available tells whether the pod counts as available. Its state is Normal or
// absent, it is Running, and it has been Ready for at least minReadySeconds.
// No in-place update is under way (InPlaceUpdateReady is not False).
func Available(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	wait, ok := AvailableIn(pod, minReadySeconds, now)
	return ok && wait <= 0
}

// AvailableIn returns how long the pod must stay unchanged until Available
// holds: 0 when it holds now. The second result is false when the passing of
// time alone does not make the pod available.
func AvailableIn(pod *corev1.Pod, minReadySeconds int32, now time.Time) (time.Duration, bool) {
	if state := StateOf(pod); state != "" && state != v1alpha1.StateNormal || !Ready(pod) {
		return 0, false
	}
	return readiness.ReadyIn(pod, minReadySeconds, now)
}

// Ready tells whether the pod counts as ready whatever its state: it is
// Running and Ready, and no in-place update is under way.
func Ready(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || !readiness.Ready(pod) {
		return false
	}
	c := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady)
	return c == nil || c.Status != corev1.ConditionFalse
}

// Unschedulable tells whether the pod waits for a node because the scheduler finds none. It is
// Pending, has no node, is reported Unschedulable, and is not being deleted.
func Unschedulable(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodPending || pod.Spec.NodeName != "" {
		return false
	}
	c := readiness.Condition(pod, corev1.PodScheduled)
	return c != nil && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}
