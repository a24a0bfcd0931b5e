package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/testbed"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// judgeClonedPod judges what is done to a pod of a CloneSet, which has happened already.
func (j *Judge) judgeClonedPod(v *verdict, s *set, uid types.UID, c podChange) {
	all := j.podsOf(uid)
	active := slices.DeleteFunc(slices.Clone(all), func(pod *corev1.Pod) bool { return !testbed.Active(pod) })
	serving := 0
	for _, pod := range active {
		if testbed.InService(pod) {
			serving++
		}
	}
	if c.created {
		v.expect(s.allowed(func(t terms) bool { return len(active) <= t.replicas+t.surge }),
			Surge, "it is one of %d, and no spec allows that many", len(active))
	}
	if c.takenOut {
		v.expect(s.allowed(func(t terms) bool { return serving >= t.replicas-t.unavailable }),
			Availability, "taken out of service, which leaves %d, and no spec allows so few", serving)
	}
	if c.deleted && !v.gap {
		_, labelled := c.pod.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
		v.expect(labelled || s.allowed(func(t terms) bool {
			return len(active) >= t.replicas || slices.Contains(t.picked, c.pod.Name) ||
				!t.inPlace && t.mayMove(c.pod, active)
		}), Needless, "deleted, which leaves %d, and no spec has a reason for that", len(active))
	}
	if c.moved && !v.gap {
		v.expect(s.allowed(func(t terms) bool { return t.inPlace && t.at(c.new) && t.mayMove(c.old, active) }),
			Partition, "updated from %s, and no spec allows that", images(c.old.Spec))
	}
}

// mayMove tells whether a pod may leave its images, given the active pods that there are after it.
func (t terms) mayMove(pod *corev1.Pod, active []*corev1.Pod) bool {
	old := 0
	for _, other := range active {
		if !t.at(other) {
			old++
		}
	}
	return !t.paused && !t.at(pod) && old >= t.partition
}
