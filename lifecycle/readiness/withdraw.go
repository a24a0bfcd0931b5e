// SPDX-License-Identifier: Apache-2.0

package readiness

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

// reasonReadinessGatesNotReady is the reason of a Ready condition that is False
// because of the pod's readiness gates. The kubelet uses the same.
const reasonReadinessGatesNotReady = "ReadinessGatesNotReady"

// Withdraw sets the pod's Ready condition to False when one of its readiness
// gates is missing or not True, counting the conditions in p. The message names
// every such gate in the words of the kubelet. Call it after the condition of
// the gate was set in p.
//
// It changes nothing when the pod has no Ready condition, when Ready is False
// already, or when ContainersReady is not True. Then the kubelet has, or will
// have, the better reason. It never sets Ready to True.
func Withdraw(p *podpatch.Patch, pod *corev1.Pod, now time.Time) {
	if c := Condition(pod, corev1.PodReady); c == nil || c.Status == corev1.ConditionFalse {
		return
	}
	containers := p.Condition(pod, corev1.ContainersReady)
	if containers == nil || containers.Status != corev1.ConditionTrue {
		return
	}
	message := closedGates(p, pod)
	if message == "" {
		return
	}
	p.SetCondition(corev1.PodCondition{
		Type:               corev1.PodReady,
		Status:             corev1.ConditionFalse,
		Reason:             reasonReadinessGatesNotReady,
		Message:            message,
		LastTransitionTime: metav1.NewTime(now),
	})
}

// closedGates lists the readiness gates that keep the pod from being Ready;
// empty when there is none (IP-11).
func closedGates(p *podpatch.Patch, pod *corev1.Pod) string {
	var room [256]byte // most messages have room in it, and cost no memory but their text
	message := room[:0]
	for i := range pod.Spec.ReadinessGates {
		gate := pod.Spec.ReadinessGates[i].ConditionType
		c := p.Condition(pod, gate)
		if c != nil && c.Status == corev1.ConditionTrue {
			continue
		}
		if len(message) > 0 {
			message = append(message, ", "...)
		}
		if c == nil {
			message = append(message, "corresponding condition of pod readiness gate "...)
			message = strconv.AppendQuote(message, string(gate))
			message = append(message, " does not exist."...)
			continue
		}
		message = append(message, "the status of pod readiness gate "...)
		message = strconv.AppendQuote(message, string(gate))
		message = append(message, ` is not "True", but `...)
		message = append(message, c.Status...)
	}
	return string(message)
}
