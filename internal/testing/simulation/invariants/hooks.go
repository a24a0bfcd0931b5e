// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// holds tells whether a hook holds a pod: it has any of its labels and
// finalizers. (LC-1)
func holds(hook *lifecyclev1alpha1.LifecycleHook, pod *corev1.Pod) bool {
	if hook == nil {
		return false
	}
	for key, value := range hook.LabelsHandler {
		if have, found := pod.Labels[key]; found && have == value {
			return true
		}
	}
	return slices.ContainsFunc(hook.FinalizersHandler, func(f string) bool { return slices.Contains(pod.Finalizers, f) })
}

// met tells whether a hook that may be missing lets a pod be Normal: it has all
// of its labels and finalizers. (LC-2)
func met(hook *lifecyclev1alpha1.LifecycleHook, pod *corev1.Pod) bool {
	if hook == nil {
		return true
	}
	for key, value := range hook.LabelsHandler {
		if have, found := pod.Labels[key]; !found || have != value {
			return false
		}
	}
	return !slices.ContainsFunc(hook.FinalizersHandler, func(f string) bool { return !slices.Contains(pod.Finalizers, f) })
}

// checkHooks: no pod that a hook holds is deleted or updated, and none becomes
// Normal before its hook is met. (LC-3, LC-8 to LC-13)
func checkHooks(v *violations, w *Write, l *lifecyclev1alpha1.Lifecycle, selector *metav1.LabelSelector) {
	before, after := w.pods()
	known := w.knownPod()
	if w.Resource != "pods" || known == nil {
		return
	}
	if l == nil {
		l = &lifecyclev1alpha1.Lifecycle{}
	}
	if w.Verb == "delete" {
		lost := newborn(known, w.Known.Now) && !matches(selector, known.Labels) // it is none of the workload, and nothing ran that a hook could end
		v.never(holds(l.PreDelete, known) && !lost, Hooks, "deletes pod %s, which its preDelete hook holds", before.Name)
		return
	}
	if after == nil {
		return
	}
	if updated(before, after) && !resizedInService(w, before, after) && stateOf(known) != lifecyclev1alpha1.StateUpdating && holds(l.InPlaceUpdate, known) {
		v.add(Hooks, "updates pod %s (%s), which its inPlaceUpdate hook holds", before.Name, stateOf(known))
	}
	if was, is := stateOf(before), stateOf(after); was != is && is == lifecyclev1alpha1.StateNormal {
		checkNormal(v, known, l)
	}
}

// checkNormal: a pod becomes Normal when the hook of its state is met.
func checkNormal(v *violations, pod *corev1.Pod, l *lifecyclev1alpha1.Lifecycle) {
	switch stateOf(pod) {
	case lifecyclev1alpha1.StatePreparingNormal:
		v.never(!met(l.PreNormal, pod), Hooks, "pod %s becomes Normal, its preNormal hook is not met", pod.Name)
	case lifecyclev1alpha1.StateUpdating, lifecyclev1alpha1.StateUpdated:
		v.never(!met(l.InPlaceUpdate, pod), Hooks,
			"pod %s becomes Normal after its update, its inPlaceUpdate hook is not met", pod.Name)
	}
}

// unspelt finds a condition that is about more pods than it names.
var unspelt = regexp.MustCompile(`delete pod \S+: .*; and \d+ more`)

// checkPrepared: when settled, and all hooks have released their pods, no pod waits out of service for an update that
// does not come. It is excused if its record cannot be read, and a condition of the status says so. asked tells of which pods.
func checkPrepared(v *violations, s *State, asked func(*corev1.Pod) bool, status any) {
	said := ""
	for _, c := range toldBy(status) {
		said += c.message + "; "
	}
	for _, pod := range s.Pods {
		excused := unreadable(pod) && strings.Contains(said, "is not readable") ||
			s.refuses("delete", "pods") && (strings.Contains(said, "delete pod "+pod.Name+":") || unspelt.MatchString(said))
		v.never(asked(pod) && active(pod) && stateOf(pod) == lifecyclev1alpha1.StatePreparingUpdate && !excused, Settled,
			"pod %s is prepared for an update for good, and the conditions say %q", pod.Name, said)
	}
}
