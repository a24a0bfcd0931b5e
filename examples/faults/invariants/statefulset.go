package invariants

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/testbed"
)

// ordinal is what the name of a pod of a StatefulSet ends with, -1 if that is no number.
func (s *set) ordinal(pod string) int {
	text, _ := strings.CutPrefix(pod, s.name+"-")
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// stateful is a StatefulSet after a change.
type stateful struct {
	*set
	pods map[int]*corev1.Pod
}

// judgeStatefulPod judges what is done to a pod of a StatefulSet, which has happened already.
func (j *Judge) judgeStatefulPod(v *verdict, s *set, uid types.UID, c podChange) {
	w := stateful{set: s, pods: map[int]*corev1.Pod{}}
	for _, pod := range j.podsOf(uid) {
		ordinal := s.ordinal(pod.Name)
		v.expect(w.pods[ordinal] == nil || v.gap, Identity, "there is another pod of the ordinal %d", ordinal)
		w.pods[ordinal] = pod
	}
	ordinal := s.ordinal(c.pod.Name)
	if c.created {
		v.expect(s.allowed(func(t terms) bool { return t.wants(ordinal) }), Needless, "created, and no spec wants it")
		v.expect(v.gap || s.allowed(func(t terms) bool { return t.wants(ordinal) && (!t.ordered || w.belowServe(t, ordinal)) }),
			Order, "created before those below it serve: %s", w.describe())
	}
	if v.gap {
		return
	}
	if c.deleted {
		v.expect(s.allowed(func(t terms) bool {
			if t.wants(ordinal) {
				return !t.inPlace && t.mayUpdate(c.old, ordinal)
			}
			return !t.ordered || w.last(t, ordinal)
		}), Needless, "deleted, and no spec has a reason for that: %s", w.describe())
	}
	if c.moved {
		v.expect(s.allowed(func(t terms) bool { return t.inPlace && t.at(c.new) && t.mayUpdate(c.old, ordinal) }),
			Partition, "updated from %s, and no spec allows that", images(c.old.Spec))
	}
	if c.takenOut {
		v.expect(s.allowed(func(t terms) bool {
			if t.ordered && !w.othersServe(t, ordinal) {
				return false
			}
			return !t.wants(ordinal) || t.mayUpdate(c.old, ordinal) && w.down(t, ordinal) <= t.unavailable
		}), Availability, "taken out of service, and no spec allows that: %s", w.describe())
	}
}

// mayUpdate tells whether a pod may leave its images.
func (t terms) mayUpdate(pod *corev1.Pod, ordinal int) bool {
	return !t.paused && ordinal >= t.partition && !t.at(pod)
}

// serves tells whether there is a pod in service.
func (w stateful) serves(ordinal int) bool {
	pod := w.pods[ordinal]
	return pod != nil && testbed.InService(pod)
}

// belowServe tells whether all wanted pods below an ordinal serve.
func (w stateful) belowServe(t terms, ordinal int) bool {
	return !slices.ContainsFunc(t.wanted, func(other int) bool { return other < ordinal && !w.serves(other) })
}

// othersServe tells whether all wanted pods but that of an ordinal serve.
func (w stateful) othersServe(t terms, ordinal int) bool {
	return !slices.ContainsFunc(t.wanted, func(other int) bool { return other != ordinal && !w.serves(other) })
}

// last tells whether no pod that is not wanted is above an ordinal or about to go.
func (w stateful) last(t terms, ordinal int) bool {
	for other, pod := range w.pods {
		if other != ordinal && !t.wants(other) && (other > ordinal || pod.DeletionTimestamp != nil) {
			return false
		}
	}
	return true
}

// down counts the wanted pods from an ordinal up that do not serve with the images of the template.
func (w stateful) down(t terms, ordinal int) (n int) {
	for _, other := range t.wanted {
		if other >= ordinal && !(w.serves(other) && t.at(w.pods[other])) {
			n++
		}
	}
	return n
}

// describe is a line about each pod.
func (w stateful) describe() string {
	var all []string
	for _, pod := range w.pods {
		all = append(all, testbed.Describe(pod, false))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
