// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/workload"
)

// Workload is what a budget has to know of one: a Deployment, a CloneSet, or anything with a scale
// subresource.
type Workload struct {
	schema.GroupKind
	// Name is its name, in the namespace of the budget, and UID its UID.
	Name string
	UID  types.UID
	// Replicas is how many pods it wants. Nil: it does not say, which is 1. (PUB-5)
	Replicas *int32
	// Deleting tells that it is being deleted, and wants nothing any more.
	Deleting bool
	// Controller is what controls it; nil for nothing.
	Controller *metav1.OwnerReference
	// Selector selects its pods; nil if it is not known. Only a mirror reads it. (PUB-30)
	Selector *metav1.LabelSelector
}

// Wants is how many pods the workload wants, at least 0.
func (w *Workload) Wants() int32 {
	switch {
	case w.Deleting:
		return 0
	case w.Replicas == nil:
		return 1
	}
	return max(*w.Replicas, 0)
}

// controller is the UID of what controls the workload; empty for nothing.
func (w *Workload) controller() types.UID {
	if w.Controller == nil {
		return ""
	}
	return w.Controller.UID
}

// replicaSet is the kind whose pods belong to whatever controls it.
var replicaSet = workload.ReplicaSets

// isRead tells whether budgets know by themselves what controls the workloads of a kind. Only by way of such workloads does a pod
// come from the target of a budget. (PUB-23)
func isRead(kind schema.GroupKind) bool {
	switch kind {
	case workload.Deployments, workload.ReplicaSets, workload.StatefulSets, workload.ReplicationControllers, workload.CloneSets, workload.AdvancedStatefulSets:
		return true
	}
	return false
}

// node is the kind of what controls static pods.
var node = schema.GroupKind{Kind: "Node"}

// Workloads are the workloads of a namespace that control pods, and those that control these,
// by UID. One that is gone is there, as being deleted. Of what is missing it is not known how many pods it wants.
type Workloads map[types.UID]*Workload

// Of returns the workload of a pod; nil for a pod without a controller, and if the
// controller is not known. (PUB-2)
func (all Workloads) Of(pod *corev1.Pod) *Workload { return all.of(metav1.GetControllerOfNoCopy(pod)) }

// of is Of for what controls a pod; nil for nothing.
func (all Workloads) of(ref *metav1.OwnerReference) *Workload {
	if ref == nil {
		return nil
	}
	w := all[ref.UID]
	if w != nil && w.GroupKind == replicaSet && all[w.controller()] != nil {
		return all[w.controller()]
	}
	return w
}

// walk goes from what controls a pod along what controls that, as far as budgets know that by themselves, until stop is true of it.
func (all Workloads) walk(ref *metav1.OwnerReference, stop func(ref *metav1.OwnerReference) bool) (found bool) {
	for range len(all) + 1 { // owners may go round in circles
		if ref == nil {
			return false
		}
		if stop(ref) {
			return true
		}
		w := all[ref.UID]
		if w == nil || !isRead(w.GroupKind) || w.GroupKind == replicaSet && w.Deleting {
			return false
		}
		ref = w.Controller
	}
	return false
}

// AreKnown tells whether all is known that a pod comes from. What controls a workload of a kind that is not read does not matter: no
// budget counts by it. (PUB-24)
func (all Workloads) AreKnown(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	for range len(all) + 1 { // owners may go round in circles
		if ref == nil || !isRead(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()) {
			return true
		}
		w := all[ref.UID]
		if w == nil || w.Deleting {
			return false
		}
		ref = w.Controller
	}
	return false
}

// comesFrom tells whether a pod comes from a workload, by way of others perhaps. A
// ReplicaSet of it that is being deleted has none that count. (PUB-3)
func (all Workloads) comesFrom(pod *Pod, target *Workload) bool {
	return all.walk(pod.Controller, func(ref *metav1.OwnerReference) bool { return ref.UID == target.UID })
}

// Names tells whether a pod says that it comes from the workload that a budget names. It may do so by way of
// others, and whether that workload is known does not matter. (PUB-3)
func (all Workloads) Names(pod *corev1.Pod, b *v1alpha1.PodUnavailableBudget) bool {
	return all.walk(metav1.GetControllerOfNoCopy(pod), func(ref *metav1.OwnerReference) bool {
		return Targets(b, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind(), ref.Name)
	})
}

// unread tells whether a pod comes from a workload that a budget names, and that is not known. (PUB-23)
func (all Workloads) unread(pod *Pod, b *v1alpha1.PodUnavailableBudget) bool {
	return all.walk(pod.Controller, func(ref *metav1.OwnerReference) bool {
		return all[ref.UID] == nil && Targets(b, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind(), ref.Name)
	})
}

// named returns the workload that a budget names; nil if there is none that is known. One of
// the name that is gone or being deleted gives way to its successor. (PUB-3)
func (all Workloads) named(b *v1alpha1.PodUnavailableBudget) (target *Workload) {
	for _, w := range all {
		if Targets(b, w.GroupKind, w.Name) && (target == nil || target.Deleting) {
			target = w
		}
	}
	return target
}

// Selection is what a budget is about.
type Selection struct {
	// Pods are the active pods of the budget, in the order in which they were given. Those that do not
	// name it are still to be told of it, and do not count. (PUB-9, PUB-24)
	Pods []*corev1.Pod
	read []*Pod // the same, as they were read
	// Elsewhere are pods that the budget is about as well and that belong to others. They do not
	// count. Select leaves it empty. (PUB-20)
	Elsewhere []*corev1.Pod
	// Total is how many there should be; of workloads that are in Unknown as many as they have.
	Total int32
	// Unknown are the workloads of which it is not known how many pods they want, as "kind name". If
	// Total matters none may be disrupted. (PUB-23)
	Unknown []string
	// Selector is that of the budget, or of the workload that it names; nil if it is not known.
	Selector *metav1.LabelSelector
	// Unprotected tells that the workloads want no pods, so that all may be disrupted. (PUB-13)
	Unprotected bool
}

// add adds a pod.
func (s *Selection) add(pod *Pod) {
	s.Pods, s.read = append(s.Pods, pod.Pod), append(s.read, pod)
}

// undecided tells whether it matters to a budget that some workloads are not known: to minAvailable as a number it does
// not. (PUB-23)
func (s *Selection) undecided(b *v1alpha1.PodUnavailableBudget) bool {
	return len(s.Unknown) > 0 && (b.Spec.MinAvailable == nil || b.Spec.MinAvailable.Type == intstr.String)
}

// Select returns the pods of a budget, of all pods of its namespace but those of other budgets, and how many
// there should be. The error says which field of the budget cannot be read. (PUB-1 to PUB-5, PUB-23)
func Select(b *v1alpha1.PodUnavailableBudget, pods []*corev1.Pod, workloads Workloads) (Selection, error) {
	return SelectFrom(b, Candidates(b, Read(pods...)), workloads)
}

// Candidates returns the pods that a budget may be about as far as they say it. They are the active ones, with a
// selector those that it selects.
func Candidates(b *v1alpha1.PodUnavailableBudget, pods []*Pod) []*Pod {
	matches := func(*corev1.Pod, *Workload) bool { return true }
	if b.Spec.TargetReference == nil {
		matches = Matcher(b)
	}
	found := make([]*Pod, 0, len(pods))
	for _, pod := range pods {
		if pod.Active && matches(pod.Pod, nil) {
			found = append(found, pod)
		}
	}
	return found
}

// SelectFrom is Select of Candidates.
func SelectFrom(b *v1alpha1.PodUnavailableBudget, candidates []*Pod, workloads Workloads) (Selection, error) {
	if b.Spec.TargetReference != nil {
		return selectByTarget(b, candidates, workloads, false), nil
	}
	return selectByLabels(b, candidates, workloads)
}

// SelectAnnotated is SelectFrom, but the total is what v1alpha1.PubProtectTotalReplicasAnnotation says, whatever the workloads
// want. Without that annotation, or if it is no number, it is what SelectFrom says. (PUB-43)
func SelectAnnotated(b *v1alpha1.PodUnavailableBudget, candidates []*Pod, workloads Workloads) (s Selection, err error) {
	total, found := protectedTotal(b)
	if !found {
		return SelectFrom(b, candidates, workloads)
	}
	if b.Spec.TargetReference != nil {
		s = selectByTarget(b, candidates, workloads, true)
	} else if s, err = selectByLabels(b, candidates, workloads); err != nil {
		return s, err
	}
	s.Total, s.Unknown, s.Unprotected = total, nil, false
	return s, nil
}

// selectByTarget selects the pods of what a budget names. If that wants none they count only if the caller has another total.
func selectByTarget(b *v1alpha1.PodUnavailableBudget, pods []*Pod, workloads Workloads, anyTotal bool) (s Selection) {
	target := workloads.named(b)
	is := func(pod *Pod) bool { return workloads.comesFrom(pod, target) }
	unread := byController(func(pod *Pod) bool { return workloads.unread(pod, b) })
	switch {
	case anyTotal && (target == nil || target.Deleting): // several of the name may be gone
		is = func(pod *Pod) bool { return workloads.Names(pod.Pod, b) }
	case target == nil || target.Deleting && slices.ContainsFunc(pods, unread): // one that is gone says nothing about its successor
		target, is = nil, unread
	case !anyTotal && target.Wants() == 0:
		return Selection{Unprotected: true}
	default:
		s.Total, s.Selector = target.Wants(), target.Selector
	}
	is = byController(is)
	for _, pod := range pods {
		if is(pod) {
			s.add(pod)
		}
	}
	switch {
	case target != nil:
	case len(s.Pods) == 0:
		s.Unprotected = true
	default:
		s.Total, s.Unknown = int32(len(s.Pods)), []string{b.Spec.TargetReference.Kind + " " + b.Spec.TargetReference.Name}
	}
	return s
}

// byController asks once for all pods of a controller what nothing else of them decides.
func byController(is func(*Pod) bool) func(*Pod) bool {
	known := map[types.UID]bool{}
	return func(pod *Pod) bool {
		ref := pod.Controller
		if ref == nil {
			return false
		}
		answer, found := known[ref.UID]
		if !found {
			answer = is(pod)
			known[ref.UID] = answer
		}
		return answer
	}
}

func selectByLabels(b *v1alpha1.PodUnavailableBudget, pods []*Pod, workloads Workloads) (s Selection, err error) {
	if _, err := selectorOf(b); err != nil {
		return s, err
	}
	s.Selector = b.Spec.Selector
	t := tally{counted: map[types.UID]bool{}, missing: map[types.UID]bool{}}
	for _, pod := range pods {
		s.add(pod)
		t.add(pod.Controller, workloads.of(pod.Controller))
	}
	slices.Sort(t.unknown)
	s.Total, s.Unknown, s.Unprotected = t.total(), t.unknown, len(t.counted) > 0 && t.total() == 0
	if t.wanted == 0 || len(t.unknown) > 0 {
		if total, found := protectedTotal(b); found {
			s.Total, s.Unknown, s.Unprotected = total, nil, false
		}
	}
	return s, nil
}

// tally counts what is wanted of the pods that a selector selects. (PUB-4, PUB-23)
type tally struct {
	counted, missing map[types.UID]bool // the workloads that are known, and those that are not
	wanted           int64              // by those that are known
	unknown          []string           // the names of those that are not
	theirs           int64              // pods of the workloads in unknown
	bare             int64              // pods of no controller
}

func (t *tally) add(ref *metav1.OwnerReference, w *Workload) {
	switch {
	case w != nil:
		if !t.counted[w.UID] {
			t.counted[w.UID] = true
			t.wanted += int64(w.Wants())
		}
	case ref == nil || schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() == node:
		t.bare++
	default:
		if t.theirs++; !t.missing[ref.UID] {
			t.missing[ref.UID] = true
			t.unknown = append(t.unknown, ref.Kind+" "+ref.Name)
		}
	}
}

func (t *tally) total() int32 {
	if t.wanted == 0 && t.theirs == 0 {
		return int32(min(t.bare, math.MaxInt32))
	}
	return int32(min(t.wanted+t.theirs, math.MaxInt32))
}
