// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Ready tells users and models of other controllers whether a pod is ready.
func Ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

// Active tells them whether a pod is there to stay: it has not ended, and is not being deleted.
func Active(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// Ordinal returns the ordinal at the end of the name of a pod, and -1 if there is none.
func Ordinal(pod *corev1.Pod) int {
	ordinal, err := strconv.Atoi(pod.Name[strings.LastIndex(pod.Name, "-")+1:])
	if err != nil || !strings.Contains(pod.Name, "-") {
		return -1
	}
	return ordinal
}
