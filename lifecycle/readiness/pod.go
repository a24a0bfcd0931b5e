// SPDX-License-Identifier: Apache-2.0

package readiness

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Condition returns the pod's condition of type t, nil if it has none. The
// result points into the pod: it must not be changed.
func Condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// HasGate tells whether condition t is one of the pod's readiness gates.
func HasGate(pod *corev1.Pod, t corev1.PodConditionType) bool {
	return specHasGate(&pod.Spec, t)
}

// AddGate appends the readiness gate t to a pod that is about to be created,
// unless the gate is there already. The gates of a pod that exists cannot be
// changed.
func AddGate(spec *corev1.PodSpec, t corev1.PodConditionType) {
	if !specHasGate(spec, t) {
		spec.ReadinessGates = append(spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: t})
	}
}

func specHasGate(spec *corev1.PodSpec, t corev1.PodConditionType) bool {
	for i := range spec.ReadinessGates {
		if spec.ReadinessGates[i].ConditionType == t {
			return true
		}
	}
	return false
}

// Ready tells whether the pod's Ready condition is True.
func Ready(pod *corev1.Pod) bool {
	c := Condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// ReadyFor tells whether the pod has been Ready for at least minReadySeconds.
// With 0 (or less) it is the same as Ready. A Ready condition that does not
// say since when it holds counts for 0 seconds only.
func ReadyFor(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	wait, ready := ReadyIn(pod, minReadySeconds, now)
	return ready && wait <= 0
}

// ReadyIn returns how long the pod must stay Ready yet until ReadyFor holds: 0
// when it holds now. The second result is false when the passing of time alone
// does not bring it there. Then the pod is not Ready, or does not say since when.
func ReadyIn(pod *corev1.Pod, minReadySeconds int32, now time.Time) (time.Duration, bool) {
	c := Condition(pod, corev1.PodReady)
	if c == nil || c.Status != corev1.ConditionTrue {
		return 0, false
	}
	if minReadySeconds <= 0 {
		return 0, true
	}
	if c.LastTransitionTime.IsZero() {
		return 0, false
	}
	from := c.LastTransitionTime.Add(time.Duration(minReadySeconds) * time.Second)
	return max(from.Sub(now), 0), true
}
