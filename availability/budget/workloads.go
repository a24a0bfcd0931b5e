// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// Workload is what a budget has to know of one: a Deployment, a CloneSet, or anything with a scale
// subresource.
type Workload struct {
	schema.GroupKind
	Name string
	UID  types.UID
	// Replicas is how many pods it wants. Nil: it does not say, which is 1. (PUB-5)
	Replicas *int32
	// Deleting tells that it is being deleted, and wants nothing any more.
	Deleting bool
	// Controller is what controls it; nil for nothing.
	Controller *metav1.OwnerReference
	// Selector selects its pods; nil where nobody knows. Only a mirror reads it. (PUB-30)
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
var replicaSet = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}

// Workloads are the workloads of a namespace that control pods, and those that control these,
// by UID. What is missing is not there any more, or nobody could say how many pods it wants.
type Workloads map[types.UID]*Workload

// Of returns the workload of a pod; nil for a pod without a controller, and where the
// controller is not known. (PUB-2)
func (all Workloads) Of(pod *corev1.Pod) *Workload {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return nil
	}
	w := all[ref.UID]
	if w != nil && w.GroupKind == replicaSet && all[w.controller()] != nil {
		return all[w.controller()]
	}
	return w
}

// comesFrom tells whether a pod comes from a workload, by way of others perhaps. A
// ReplicaSet of it that is being deleted, or scaled to 0, has none that count. (PUB-3)
func (all Workloads) comesFrom(pod *corev1.Pod, target *Workload) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return false
	}
	uid := ref.UID
	for range len(all) + 1 { // owners may go round in circles
		w := all[uid]
		switch {
		case uid == target.UID:
			return true
		case w == nil || w.GroupKind == replicaSet && w.Wants() == 0:
			return false
		}
		uid = w.controller()
	}
	return false
}

// named returns the workload that a budget names; nil where there is none. (PUB-3)
func (all Workloads) named(ref *v1alpha1.TargetReference) *Workload {
	group, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil
	}
	for _, w := range all {
		if w.Group == group.Group && w.Kind == ref.Kind && w.Name == ref.Name {
			return w
		}
	}
	return nil
}

// Selection is what a budget is about.
type Selection struct {
	// Pods are the active pods of the budget, in the order in which they were given.
	Pods []*corev1.Pod
	// Untold are those of Pods, by name, that are still to be told of the budget, so that nobody asks before
	// they go. They do not count. Select leaves it nil, for none. (PUB-9, PUB-24)
	Untold map[string]bool
	// Total is how many there should be.
	Total int32
	// Selector is that of the budget, or of the workload that it names; nil where nobody knows.
	Selector *metav1.LabelSelector
	// Unprotected tells that the workloads want no pods, so that all may be disrupted. (PUB-13)
	Unprotected bool
}

// Select returns the pods of a budget, of all pods of its namespace, and how many there should be.
// The error says which field of the budget cannot be read. (PUB-1 to PUB-5)
func Select(b *v1alpha1.PodUnavailableBudget, pods []*corev1.Pod, workloads Workloads) (Selection, error) {
	if b.Spec.TargetReference != nil {
		return selectByTarget(b, pods, workloads), nil
	}
	return selectByLabels(b, pods, workloads)
}

func selectByTarget(b *v1alpha1.PodUnavailableBudget, pods []*corev1.Pod, workloads Workloads) Selection {
	target := workloads.named(b.Spec.TargetReference)
	if target == nil || target.Wants() == 0 {
		return Selection{Unprotected: true}
	}
	s := Selection{Total: target.Wants(), Selector: target.Selector}
	for _, pod := range pods {
		if Active(pod) && workloads.comesFrom(pod, target) {
			s.Pods = append(s.Pods, pod)
		}
	}
	return s
}

func selectByLabels(b *v1alpha1.PodUnavailableBudget, pods []*corev1.Pod, workloads Workloads) (s Selection, err error) {
	selector, err := selectorOf(b)
	if err != nil {
		return s, err
	}
	s.Selector = b.Spec.Selector
	counted, total := map[types.UID]bool{}, int64(0)
	for _, pod := range pods {
		if !Active(pod) || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		s.Pods = append(s.Pods, pod)
		if w := workloads.Of(pod); w != nil && !counted[w.UID] {
			counted[w.UID] = true
			total += int64(w.Wants())
		}
	}
	s.Total = int32(min(total, math.MaxInt32))
	if s.Total == 0 {
		s.Unprotected = len(counted) > 0
		if total, found := protectedTotal(b); found {
			s.Total, s.Unprotected = total, false
		}
	}
	return s, nil
}
