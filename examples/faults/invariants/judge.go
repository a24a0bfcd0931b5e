package invariants

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Change is what has become of one object: a pod, a claim, a v1alpha1 CloneSet or a v1beta1 StatefulSet. Old is nil where it is
// new, New is nil where it is gone. The judge remembers the objects, so nobody may change them any more.
type Change struct{ Old, New metav1.Object }

// Judge judges the changes of one namespace.
type Judge struct {
	strangers map[types.UID]bool
	sets      map[types.UID]*set
	pods      map[types.UID]*corev1.Pod
	claims    map[types.UID]*corev1.PersistentVolumeClaim
}

// set is a workload with the specs that count.
type set struct {
	name     string
	ordinals bool    // it is a StatefulSet
	counting []terms // the last one is in force
	// images are those of its pods when it was last settled.
	images map[string]bool
}

// NewJudge returns a judge that has seen nothing yet. Strangers are pods and claims that belong to no workload, and must stay
// as they are.
func NewJudge(strangers ...types.UID) *Judge {
	j := &Judge{strangers: map[types.UID]bool{}, sets: map[types.UID]*set{}, pods: map[types.UID]*corev1.Pod{},
		claims: map[types.UID]*corev1.PersistentVolumeClaim{}}
	for _, uid := range strangers {
		j.strangers[uid] = true
	}
	return j
}

// See returns what is wrong with changes that have been stored after those seen before; nil if nothing is. One that is gap
// lumps together what has happened between two looks at the objects: what depends on the order of changes, or on a
// moment between them, is not judged then.
func (j *Judge) See(changes []Change, gap bool) (wrong []Violation) {
	for _, change := range changes {
		j.take(change)
	}
	for _, change := range changes {
		wrong = append(wrong, j.judge(change, gap)...)
	}
	return wrong
}

// Settled says that the controllers have seen all that there is: earlier specs do not count any more.
func (j *Judge) Settled() {
	for uid, s := range j.sets {
		s.counting = s.counting[len(s.counting)-1:]
		s.images = map[string]bool{}
		for _, pod := range j.podsOf(uid) {
			s.images[images(pod.Spec)] = true
		}
	}
}

// take takes note of a change.
func (j *Judge) take(c Change) {
	switch object := c.latest().(type) {
	case *v1alpha1.CloneSet:
		j.count(object, false, func() terms { return cloneSetTerms(object) })
	case *v1beta1.StatefulSet:
		j.count(object, true, func() terms { return statefulSetTerms(object) })
	case *corev1.Pod:
		take(j.pods, c, object)
	case *corev1.PersistentVolumeClaim:
		take(j.claims, c, object)
	}
}

func take[T metav1.Object](all map[types.UID]T, c Change, object T) {
	if c.New == nil {
		delete(all, object.GetUID())
	} else {
		all[object.GetUID()] = object
	}
}

// count has the spec of a workload count from now on. An older one than the last is no news.
func (j *Judge) count(object metav1.Object, ordinals bool, terms func() terms) {
	s := j.sets[object.GetUID()]
	if s == nil {
		s = &set{name: object.GetName(), ordinals: ordinals}
		j.sets[object.GetUID()] = s
	}
	if n := len(s.counting); n == 0 || s.counting[n-1].generation < object.GetGeneration() {
		t := terms()
		t.generation = object.GetGeneration()
		s.counting = append(s.counting, t)
	}
}

func (c Change) latest() metav1.Object {
	if c.New == nil {
		return c.Old
	}
	return c.New
}

func (j *Judge) judge(c Change, gap bool) []Violation {
	v := &verdict{gap: gap}
	object := c.latest()
	switch {
	case j.strangers[object.GetUID()]:
		v.about = "stranger " + object.GetName()
		j.judgeStranger(v, c)
	default:
		switch object := object.(type) {
		case *corev1.Pod:
			v.about = "pod " + testbed.Describe(object, c.New == nil)
			j.judgePod(v, newPodChange(c))
		case *corev1.PersistentVolumeClaim:
			v.about = "claim " + object.Name
			j.judgeClaim(v, c)
		}
	}
	return v.wrong
}

// podsOf returns all pods that a workload controls, by name.
func (j *Judge) podsOf(uid types.UID) (pods []*corev1.Pod) {
	for _, pod := range j.pods {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.UID == uid {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// allowed tells whether something is right by one of the specs that count.
func (s *set) allowed(by func(terms) bool) bool { return slices.ContainsFunc(s.counting, by) }
