// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// HookedAny tells whether the hook holds the pod back. It does if the pod has at least
// one of the hook's finalizers, or at least one of its labels with exactly the
// listed value. A nil hook and an empty one hold nothing back.
func HookedAny(h *v1alpha1.LifecycleHook, pod *corev1.Pod) bool {
	if h == nil {
		return false
	}
	for _, f := range h.FinalizersHandler {
		if slices.Contains(pod.Finalizers, f) {
			return true
		}
	}
	for k, v := range h.LabelsHandler {
		if hasLabel(pod, k, v) {
			return true
		}
	}
	return false
}

// HookedAll tells whether the hook is met: the pod has all of the hook's
// finalizers, and all of its labels with exactly the listed values. An empty
// hook is met by every pod, a nil hook by none.
func HookedAll(h *v1alpha1.LifecycleHook, pod *corev1.Pod) bool {
	if h == nil {
		return false
	}
	for _, f := range h.FinalizersHandler {
		if !slices.Contains(pod.Finalizers, f) {
			return false
		}
	}
	for k, v := range h.LabelsHandler {
		if !hasLabel(pod, k, v) {
			return false
		}
	}
	return true
}

func hasLabel(pod *corev1.Pod, key, value string) bool {
	have, found := pod.Labels[key]
	return found && have == value
}

// holding names what of the hook the pod has, for people: the finalizers and
// labels that have to go before the hook releases the pod.
func holding(name string, h *v1alpha1.LifecycleHook, pod *corev1.Pod) string {
	var by []string
	for _, f := range h.FinalizersHandler {
		if slices.Contains(pod.Finalizers, f) {
			by = append(by, "finalizer "+strconv.Quote(f))
		}
	}
	labels := len(by)
	for k, v := range h.LabelsHandler {
		if hasLabel(pod, k, v) {
			by = append(by, "label "+strconv.Quote(k+"="+v))
		}
	}
	slices.Sort(by[labels:])
	return "the " + name + " hook waits until the pod loses " + strings.Join(by, " and ")
}
