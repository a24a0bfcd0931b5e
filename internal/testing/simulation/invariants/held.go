// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	all := toldBy(status)
	if i := slices.IndexFunc(all, func(c told) bool { return c.of == string(of) }); i >= 0 {
		return &all[i]
	}
	return nil
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
		if onDeadNode(s, pod) {
			v.add(Status, "pod %s waits for the dead node %s, and no condition HeldUp names %s or another one: %v", pod.Name, pod.Spec.NodeName, nameOf(pod), toldBy(status))
		}
	}
}

// consumers is what programs read of the conditions of a status that know no kind, but the convention of kstatus (Flux,
// Helm). They wait, or fail.
type consumers struct {
	reconciling, stalled bool
	problems             bool // there are other conditions, which report problems
}

// consumersOf reads the conditions of a status. One that is not True tells consumers nothing.
func consumersOf(status any) (c consumers) {
	for _, condition := range toldBy(status) {
		switch condition.of {
		case "Reconciling":
			c.reconciling = condition.status == "True"
		case "Stalled":
			c.stalled = condition.status == "True"
		default:
			c.problems = true
		}
	}
	return c
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
