// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// heldUp is the condition that says what holds a workload up. (CS-40)
const heldUp = "HeldUp"

// told is a condition of a status, of whatever type a kind's conditions are.
type told struct{ of, status, reason, message string }

// toldBy reads the conditions of a status, to which it gets a pointer.
func toldBy(status any) (all []told) {
	conditions := reflect.ValueOf(status).Elem().FieldByName("Conditions")
	for i := range conditions.Len() {
		text := func(field string) string { return conditions.Index(i).FieldByName(field).String() }
		all = append(all, told{text("Type"), text("Status"), text("Reason"), text("Message")})
	}
	return all
}

func conditionOf[T ~string](status any, of T) *told {
	return first(toldBy(status), func(c *told) bool { return c.of == string(of) })
}

func isTrue[T ~string](status any, of T) bool {
	c := conditionOf(status, of)
	return c != nil && c.status == "True"
}

// checkDead: while something waits for a dead node, HeldUp names it, or another one of those that wait. It is not written anew for each
// that comes later. A message names the first of what is held up, some more, and how many others. (CS-41)
func checkDead(v *violations, s *State, waits []*corev1.Pod, status any, nameOf func(*corev1.Pod) string) {
	if c := conditionOf(status, heldUp); c != nil && slices.ContainsFunc(waits, func(pod *corev1.Pod) bool {
		return strings.Contains(c.message, nameOf(pod)) || strings.Contains(c.message, " more")
	}) {
		return
	}
	for _, pod := range waits {
		v.never(onDeadNode(s, pod), Status,
			"pod %s waits for the dead node %s, and no condition HeldUp names %s or another one: %v",
			pod.Name, pod.Spec.NodeName, nameOf(pod), toldBy(status))
	}
}

// checkNoProblem: when all is as the spec wants it, no condition reports a problem that nothing excuses. What consumers read is judged
// with the pods.
func checkNoProblem(v *violations, status any, excused func(told) bool) {
	for _, c := range toldBy(status) {
		v.never(c.of != "Reconciling" && c.of != "Stalled" && !excused(c), Status, "condition %s: %s", c.of, c.message)
	}
}

// consumers is what programs read of the conditions of a status that know no kind, but the convention of kstatus (Flux,
// Helm). They wait, or fail.
type consumers struct {
	reconciling, stalled bool
	problems             bool // there are other conditions, which report problems
}

// consumersOf reads the conditions of a status. One that is not True tells consumers nothing.
func consumersOf(status any) consumers {
	problem := func(c told) bool { return c.of != "Reconciling" && c.of != "Stalled" }
	return consumers{isTrue(status, "Reconciling"), isTrue(status, "Stalled"), slices.ContainsFunc(toldBy(status), problem)}
}

func (c consumers) wait() bool { return c.reconciling || c.stalled }

// check: they are told one thing, and something as long as no controller has read the spec. (CS-S5, STS-S3, DS-20)
func (c consumers) check(v *violations, observedGeneration int64) {
	v.never(c.reconciling && c.stalled, Status, "it is both reconciling and stalled")
	v.never(observedGeneration == 0 && !c.wait(), Status, "nothing is observed yet, and no condition says so")
}

// checkReached: they wait until the spec is reached, and no longer. (CS-S5, STS-S3, DS-20)
func (c consumers) checkReached(v *violations, reached bool) {
	v.never(reached == c.wait(), Status, "the spec is reached: %v; a condition says that it is not: %v", reached, c.wait())
}

// checkUnreadable: if the spec cannot be understood, they fail, and users are told why.
func (c consumers) checkUnreadable(v *violations) {
	v.never(!c.problems, Status, "the spec cannot be read, and no condition says so")
	v.never(!c.stalled, Status, "the spec cannot be read, and consumers wait for it")
}

// history judges the revisions that a workload keeps of its template. Without a selector it has no orphans. (CS-CR7, DS-CR6, UD-R5)
type history struct {
	uid      types.UID
	selector *metav1.LabelSelector
	limit    *int32                           // revisionHistoryLimit
	needed   func(s *State) map[string]string // for what a revision is needed, by its short hash
	twins    map[string]bool                  // short hashes of revisions that others stand for, which go whatever the limit
}

// most is how many stay that nothing needs.
func (h *history) most() int { return max(int(ptr.Deref(h.limit, 10)), 0) }

// unused are the revisions that nothing needs, in the order in which they go. Orphans that cannot be read belong to no workload.
func (h *history) unused(s *State, needed map[string]string) (names []string) {
	templates := templatesOf(s.Revisions)
	for _, r := range slices.SortedFunc(maps.Values(s.Revisions), earlier) {
		orphan := metav1.GetControllerOfNoCopy(r) == nil && matches(h.selector, r.Labels) && templates[shortHash(r.Name)] != nil
		if (orphan || controls(h.uid, r)) && needed[shortHash(r.Name)] == "" {
			names = append(names, r.Name)
		}
	}
	return names
}

// checkWrite: a new revision belongs to the workload. One goes in the state that was seen, when nothing needs it, the oldest first, and no more
// than the limit asks for.
func (h *history) checkWrite(v *violations, w *Write) {
	v.never(w.Before == nil && !controls(h.uid, w.After), Ownership,
		"creates revision %s, which does not belong to the workload", w.name())
	if w.Verb != "delete" {
		return
	}
	v.never(w.Asked != nil && w.Asked.ResourceVersion == "", History,
		"deletes revision %s whatever has become of it since", w.name())
	needed, hash := h.needed(w.Known), shortHash(w.name())
	why := needed[hash]
	v.never(why != "", History, "deletes revision %s, which is that of %s", w.name(), why)
	unused := h.unused(w.Observed, needed)
	if rank := slices.Index(unused, w.name()); rank >= len(unused)-h.most() && !h.twins[hash] {
		v.add(History, "deletes revision %s, the %d. of %d that nothing needs, revisionHistoryLimit %d", w.name(), rank+1, len(unused), h.most())
	}
}

// checkLeft: when settled no more are left than the limit says.
func (h *history) checkLeft(v *violations, s *State) {
	unused := h.unused(s, h.needed(s))
	v.never(len(unused) > h.most(), History, "%d unused revisions are left, revisionHistoryLimit %d", len(unused), h.most())
}

// holds tells whether a hook holds a pod: it has any of its labels and finalizers. (LC-1)
func holds(hook *lifecyclev1alpha1.LifecycleHook, pod *corev1.Pod) bool {
	has, _ := handled(hook, pod)
	return has > 0
}

// handled counts the labels and finalizers of a hook that a pod has, and all of them.
func handled(hook *lifecyclev1alpha1.LifecycleHook, pod *corev1.Pod) (has, all int) {
	if hook == nil {
		return 0, 0
	}
	for key, value := range hook.LabelsHandler {
		have, found := pod.Labels[key]
		count(&has, found && have == value)
	}
	for _, f := range hook.FinalizersHandler {
		count(&has, slices.Contains(pod.Finalizers, f))
	}
	return has, len(hook.LabelsHandler) + len(hook.FinalizersHandler)
}

// met tells whether a hook that may be missing lets a pod be Normal: it has all of its labels and finalizers. (LC-2)
func met(hook *lifecyclev1alpha1.LifecycleHook, pod *corev1.Pod) bool {
	has, all := handled(hook, pod)
	return has == all
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
