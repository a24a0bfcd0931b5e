// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/workload"
)

// enqueueOf enqueues the budgets that a pod belongs to, or names.
func (o *Options) enqueueOf(pod *corev1.Pod, enqueue controller.Enqueue) {
	budgets, err := o.budgets(pod.Namespace)
	if err != nil || len(budgets) == 0 {
		return // the index is there since New
	}
	above := o.above(pod)
	for _, b := range budgets {
		if b.Name == relatedTo(pod) || budget.Matches(b, pod, nil) || targetsAny(b, above) || o.selectedBeside(b, pod) {
			enqueue(types.NamespacedName{Namespace: b.Namespace, Name: b.Name})
		}
	}
}

// selectedBeside tells whether the workload that a budget names selects a pod by its labels, whatever controls that. Then
// it decides whether there can be a mirror. What no cache has is looked at from time to time. (PUB-32)
func (o *Options) selectedBeside(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod) bool {
	if o.Mirror != MirrorAnnotated || b.Spec.TargetReference == nil || !budget.Mirrored(b) {
		return false
	}
	kind := schema.FromAPIVersionAndKind(b.Spec.TargetReference.APIVersion, b.Spec.TargetReference.Kind).GroupKind()
	w, _, err := readWorkload(o.Reader, b.Namespace, kind, b.Spec.TargetReference.Name)
	if err != nil || w == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(w.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// disruptionBudgetChanged enqueues the budget that a PodDisruptionBudget shows, and the one that has its name. If it is new,
// so are those of the pods that it selects. There is at most one PodDisruptionBudget of a pod. (PUB-32)
func (o *Options) disruptionBudgetChanged(before, after *policyv1.PodDisruptionBudget, enqueue controller.Enqueue) {
	same := before != nil && after != nil && before.UID == after.UID && equality.Semantic.DeepEqual(before.Spec.Selector, after.Spec.Selector)
	for _, d := range []*policyv1.PodDisruptionBudget{before, after} {
		if d == nil {
			continue
		}
		enqueue(types.NamespacedName{Namespace: d.Namespace, Name: d.Name})
		selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
		if same || err != nil {
			continue
		}
		pods, err := o.pods(d.Namespace)
		if err != nil {
			return // the index is there since New
		}
		for _, pod := range pods {
			switch name := relatedTo(pod); {
			case !selector.Matches(labels.Set(pod.Labels)):
			case name != "": // another one could not have a mirror of this pod
				enqueue(types.NamespacedName{Namespace: pod.Namespace, Name: name})
			default:
				o.enqueueOf(pod, enqueue)
			}
		}
	}
}

// workloadChanged enqueues the budgets that name a workload, or what controls it, before the event
// or after it. Those with a selector are enqueued whatever pods it has.
func (o *Options) workloadChanged(e controller.Event, enqueue controller.Enqueue) {
	if e.Before != nil && e.After != nil && sameWants(e.Before, e.After) {
		return
	}
	budgets, err := o.budgets(e.Object().GetNamespace())
	if err != nil || len(budgets) == 0 {
		return
	}
	var names []workload.Named
	for _, object := range []metav1.Object{e.Before, e.After} {
		if w := workloadOf(object); w != nil {
			names = append(append(names, workload.Named{GroupKind: w.GroupKind, Name: w.Name}), o.above(object)...)
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
	return b.UID == a.UID && b.Wants() == a.Wants() && b.Deleting == a.Deleting && uid(b) == uid(a) &&
		equality.Semantic.DeepEqual(b.Selector, a.Selector)
}

func targetsAny(b *v1alpha1.PodUnavailableBudget, names []workload.Named) bool {
	for _, n := range names {
		if budget.Targets(b, n.GroupKind, n.Name) {
			return true
		}
	}
	return false
}

// above names what controls an object, and what controls that, as far as the caches know.
func (o *Options) above(object metav1.Object) []workload.Named {
	return workload.Above(object, func(kind schema.GroupKind, name string) (types.UID, *metav1.OwnerReference, bool) {
		w, _, err := readWorkload(o.Reader, object.GetNamespace(), kind, name)
		if w == nil || err != nil {
			return "", nil, false
		}
		return w.UID, w.Controller, true
	})
}

// relatedTo is the name of the budget that protects a pod; empty for none.
func relatedTo(pod *corev1.Pod) string { return pod.Annotations[v1alpha1.RelatedPubAnnotation] }
