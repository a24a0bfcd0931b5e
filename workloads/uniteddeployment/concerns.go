// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// bySubsetRevision is the index of pods by the revision of their subset.
var bySubsetRevision = caches.ByLabel(v1alpha1.SubsetRevisionLabel)

// changed returns the function that enqueues the UnitedDeployments that a workload concerns, if
// their plans may differ. They are its owner, and those that may adopt it if it has no
// controller.
func changed[O metav1.Object](o *Options, read func(O) Child) func(before, after O, enqueue controller.Enqueue) {
	return func(before, after O, enqueue controller.Enqueue) {
		var none O
		if any(before) != any(none) && any(after) != any(none) {
			if b, a := read(before), read(after); b.same(&a) {
				return
			}
		}
		keys := map[types.NamespacedName]bool{}
		for _, object := range []O{before, after} {
			if any(object) != any(none) {
				o.concerned(object, func(key types.NamespacedName) { keys[key] = true })
			}
		}
		for key := range keys {
			enqueue(key)
		}
	}
}

// same tells whether no plan differs for two states of a workload.
func (c *Child) same(other *Child) bool {
	a, b := *c, *other
	equal := a.Object.GetUID() == b.Object.GetUID() && a.deleting() == b.deleting() && maps.Equal(a.Object.GetLabels(), b.Object.GetLabels()) &&
		controllerOf(a.Object) == controllerOf(b.Object) && ptr.Equal(a.Partition, b.Partition)
	a.Object, b.Object, a.Partition, b.Partition = nil, nil, nil, nil
	return equal && a == b
}

// controllerOf is the UID of an object's controller, empty if it has none.
func controllerOf(object metav1.Object) types.UID {
	if by := metav1.GetControllerOfNoCopy(object); by != nil {
		return by.UID
	}
	return ""
}

// concerned names the UnitedDeployments that a workload concerns.
func (o *Options) concerned(object metav1.Object, enqueue controller.Enqueue) {
	by := metav1.GetControllerOfNoCopy(object)
	if by == nil {
		o.matching(object, enqueue)
		return
	}
	if version, err := schema.ParseGroupVersion(by.APIVersion); err == nil && by.Kind == kind && version.Group == v1alpha1.GroupName {
		enqueue(types.NamespacedName{Namespace: object.GetNamespace(), Name: by.Name})
	}
}

// matching names the UnitedDeployments whose selector matches an object.
func (o *Options) matching(object metav1.Object, enqueue controller.Enqueue) {
	found, err := o.UnitedDeployments.GetIndexer().ByIndex(cache.NamespaceIndex, object.GetNamespace())
	if err != nil {
		return // the index is there, see caches.ByNamespace
	}
	for _, candidate := range found {
		set, ok := candidate.(*v1alpha1.UnitedDeployment)
		if !ok {
			continue
		}
		match, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		if err == nil && !match.Empty() && match.Matches(labels.Set(object.GetLabels())) {
			enqueue(types.NamespacedName{Namespace: set.Namespace, Name: set.Name})
		}
	}
}

// podChanged enqueues the UnitedDeployment of a pod, if its plan may differ.
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	if before != nil && after != nil && before.UID == after.UID && maps.Equal(before.Labels, after.Labels) && lifecycle.Ready(before) == lifecycle.Ready(after) &&
		(before.DeletionTimestamp == nil) == (after.DeletionTimestamp == nil) && controllerOf(before) == controllerOf(after) &&
		(!o.Features.AdaptiveScheduling || sameScheduling(before, after)) {
		return
	}
	keys := map[types.NamespacedName]bool{}
	for _, pod := range []*corev1.Pod{before, after} {
		if pod != nil {
			o.podConcerns(pod, func(key types.NamespacedName) { keys[key] = true })
		}
	}
	for key := range keys {
		enqueue(key)
	}
}

// sameScheduling tells whether two states of a pod are the same for the schedule strategy.
func sameScheduling(before, after *corev1.Pod) bool {
	was, is := metav1.GetControllerOfNoCopy(before), metav1.GetControllerOfNoCopy(after)
	return (was == nil || is == nil || was.Kind == is.Kind) && before.Spec.NodeName == after.Spec.NodeName && podstate.Ended(before) == podstate.Ended(after) &&
		lifecycle.Unschedulable(before) == lifecycle.Unschedulable(after)
}

// podConcerns names the UnitedDeployment of a pod: the revision in its label begins with it,
// if the name is not too long. (UD-7)
func (o *Options) podConcerns(pod *corev1.Pod, enqueue controller.Enqueue) {
	revision := pod.Labels[v1alpha1.SubsetRevisionLabel]
	if revision == "" {
		return
	}
	if i := strings.LastIndexByte(revision, '-'); i > 0 {
		enqueue(types.NamespacedName{Namespace: pod.Namespace, Name: revision[:i]})
		return
	}
	o.matching(pod, enqueue)
}
