// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// told is what a condition HeldUp says, of whatever type a kind's conditions are.
type told struct{ of, message string }

// tells tells whether HeldUp names something. A message names the first of what is held up, some more, and how many others.
func tells(conditions []told, name string) bool {
	for _, c := range conditions {
		if c.of == heldUp && (strings.Contains(c.message, name) || strings.Contains(c.message, " more")) {
			return true
		}
	}
	return false
}

// checkDead: while something waits for a dead node, HeldUp names it, or another one of those that wait. It is not written anew for each
// that comes later. (CS-41)
func checkDead(v *violations, s *State, waits []*corev1.Pod, conditions []told, nameOf func(*corev1.Pod) string) {
	if slices.ContainsFunc(waits, func(pod *corev1.Pod) bool { return tells(conditions, nameOf(pod)) }) {
		return
	}
	for _, pod := range waits {
		if onDeadNode(s, pod) {
			v.add(Status, "pod %s waits for the dead node %s, and no condition HeldUp names %s or another one: %v", pod.Name, pod.Spec.NodeName, nameOf(pod), conditions)
		}
	}
}
