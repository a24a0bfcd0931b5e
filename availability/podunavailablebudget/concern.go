// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
)

// enqueueOf enqueues the budgets that a pod belongs to, or names.
func (o *Options) enqueueOf(pod *corev1.Pod, enqueue controller.Enqueue) {
	budgets, err := o.Reader.Budgets(pod.Namespace)
	if err != nil || len(budgets) == 0 {
		return // the index is there since New
	}
	above := o.above(pod)
	for _, b := range budgets {
		if b.Name == relatedTo(pod) || budget.Matches(b, pod, nil) || targetsAny(b, above) {
			enqueue(types.NamespacedName{Namespace: b.Namespace, Name: b.Name})
		}
	}
}

// workloadChanged enqueues the budgets that name a workload, or what controls it, before the event
// or after it; and those with a selector, whatever pods it may have.
func (o *Options) workloadChanged(e controller.Event, enqueue controller.Enqueue) {
	if e.Before != nil && e.After != nil && sameWants(e.Before, e.After) {
		return
	}
	budgets, err := o.Reader.Budgets(e.Object().GetNamespace())
	if err != nil || len(budgets) == 0 {
		return
	}
	var names []named
	for _, object := range []metav1.Object{e.Before, e.After} {
		if w := workloadOf(object); w != nil {
			names = append(append(names, named{w.GroupKind, w.Name}), o.above(object)...)
		}
	}
	for _, b := range budgets {
		if b.Spec.Selector != nil || targetsAny(b, names) {
			enqueue(types.NamespacedName{Namespace: b.Namespace, Name: b.Name})
		}
	}
}

// sameWants tells whether a workload means the same to budgets before and after an event.
func sameWants(before, after metav1.Object) bool {
	b, a := workloadOf(before), workloadOf(after)
	if b == nil || a == nil {
		return b == a
	}
	uid := func(w *budget.Workload) (uid types.UID) {
		if w.Controller != nil {
			uid = w.Controller.UID
		}
		return uid
	}
	return b.UID == a.UID && b.Wants() == a.Wants() && b.Deleting == a.Deleting && uid(b) == uid(a)
}

// named is the name of a workload.
type named struct {
	schema.GroupKind
	name string
}

func targetsAny(b *v1alpha1.PodUnavailableBudget, names []named) bool {
	for _, n := range names {
		if budget.Targets(b, n.GroupKind, n.name) {
			return true
		}
	}
	return false
}

// mostOwners ends a walk along owners that go round in circles.
const mostOwners = 10

// above names what controls an object, and what controls that, as far as the caches know.
func (o *Options) above(object metav1.Object) (names []named) {
	ref := metav1.GetControllerOfNoCopy(object)
	for ref != nil && len(names) < mostOwners {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil {
			return names
		}
		n := named{schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, ref.Name}
		names = append(names, n)
		w, _, err := o.Reader.Workload(object.GetNamespace(), n.GroupKind, n.name)
		if w == nil || err != nil || w.UID != ref.UID {
			return names
		}
		ref = w.Controller
	}
	return names
}

// relatedTo is the name of the budget that protects a pod; empty for none.
func relatedTo(pod *corev1.Pod) string { return pod.Annotations[v1alpha1.RelatedPubAnnotation] }
