package cloneset

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cloneSetEvents asks for a pass when a CloneSet changes, but not when all that
// changed is the status that the controller itself wrote.
func (c *Controller) cloneSetEvents() cache.ResourceEventHandler {
	add := func(obj any) {
		if set, ok := obj.(*v1alpha1.CloneSet); ok {
			c.loop.Add(types.NamespacedName{Namespace: set.Namespace, Name: set.Name})
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: add,
		UpdateFunc: func(before, after any) {
			b, a := before.(*v1alpha1.CloneSet), after.(*v1alpha1.CloneSet)
			if cloneSetChangeMatters(b, a) || c.statusOverwritten(b, a) {
				add(after)
			}
		},
		DeleteFunc: func(obj any) { add(last(obj)) },
	}
}

// ownedEvents asks for a pass over the owner of an object that changes.
func ownedEvents[T metav1.Object](c *Controller, matters func(before, after T) bool) cache.ResourceEventHandler {
	enqueue := func(obj any) {
		object, ok := last(obj).(metav1.Object)
		if !ok {
			return
		}
		for _, owner := range object.GetOwnerReferences() {
			if owner.Kind == "CloneSet" && sameGroup(owner.APIVersion) {
				c.enqueueOwner(types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name})
			}
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue,
		UpdateFunc: func(before, after any) {
			b, a := before.(T), after.(T)
			if !slices.EqualFunc(b.GetOwnerReferences(), a.GetOwnerReferences(), sameOwner) {
				enqueue(b)
				enqueue(a)
			} else if matters(b, a) {
				enqueue(a)
			}
		},
		DeleteFunc: enqueue,
	}
}

func sameOwner(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

func sameGroup(apiVersion string) bool {
	group := v1alpha1.GroupName + "/"
	return len(apiVersion) > len(group) && apiVersion[:len(group)] == group
}

// last returns the object of an event, also where its deletion was missed.
func last(obj any) any {
	if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return missed.Obj
	}
	return obj
}

// statusOverwritten tells whether somebody else has written the status.
func (c *Controller) statusOverwritten(before, after *v1alpha1.CloneSet) bool {
	key := types.NamespacedName{Namespace: after.Namespace, Name: after.Name}
	return c.Reconciler.statuses.get(key) != after.ResourceVersion &&
		!equality.Semantic.DeepEqual(before.Status, after.Status)
}

// cloneSetChangeMatters tells whether a plan may differ after a change of the
// CloneSet beside its status.
func cloneSetChangeMatters(before, after *v1alpha1.CloneSet) bool {
	return before.UID != after.UID || before.Generation != after.Generation ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		!maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations)
}

// podChangeMatters tells whether a plan may differ after a change of a pod. It
// compares what the planner reads, so that heartbeats, probes and the records
// of other controllers cost no pass.
func podChangeMatters(before, after *corev1.Pod) bool {
	return before.UID != after.UID ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		before.Status.Phase != after.Status.Phase ||
		before.Spec.NodeName != after.Spec.NodeName ||
		!maps.Equal(before.Labels, after.Labels) ||
		!maps.Equal(before.Annotations, after.Annotations) ||
		!slices.Equal(before.Finalizers, after.Finalizers) ||
		conditionsMatter(before, after) ||
		!slices.EqualFunc(before.Spec.Containers, after.Spec.Containers, func(a, b corev1.Container) bool { return a.Image == b.Image }) ||
		!slices.EqualFunc(before.Status.ContainerStatuses, after.Status.ContainerStatuses, sameContainer)
}

func sameContainer(a, b corev1.ContainerStatus) bool {
	return a.Name == b.Name && a.Ready == b.Ready && a.Image == b.Image && a.ImageID == b.ImageID &&
		a.ContainerID == b.ContainerID && a.RestartCount == b.RestartCount
}

// conditionsMatter compares the conditions that the planner reads: those of
// the gates and readiness, with the time since which they hold.
func conditionsMatter(before, after *corev1.Pod) bool {
	for _, t := range []corev1.PodConditionType{
		corev1.PodReady, corev1.ContainersReady, inplacev1alpha1.InPlaceUpdateReady, lifecyclev1alpha1.KruisePodReady,
	} {
		if !sameCondition(readiness.Condition(before, t), readiness.Condition(after, t)) {
			return true
		}
	}
	return gatesMatter(before, after)
}

func sameCondition(a, b *corev1.PodCondition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message && a.LastTransitionTime.Equal(&b.LastTransitionTime)
}

// gatesMatter compares the conditions of other readiness gates, which stand in
// the message of a withdrawn Ready.
func gatesMatter(before, after *corev1.Pod) bool {
	for _, gate := range after.Spec.ReadinessGates {
		a, b := readiness.Condition(before, gate.ConditionType), readiness.Condition(after, gate.ConditionType)
		if (a == nil) != (b == nil) || a != nil && a.Status != b.Status {
			return true
		}
	}
	return false
}

// claimChangeMatters tells whether a plan may differ after a change of a claim.
func claimChangeMatters(before, after *corev1.PersistentVolumeClaim) bool {
	return before.UID != after.UID || !maps.Equal(before.Labels, after.Labels) ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
}

// revisionChangeMatters tells whether a plan may differ after a change of a revision.
func revisionChangeMatters(before, after *appsv1.ControllerRevision) bool {
	return before.UID != after.UID || before.Revision != after.Revision ||
		!maps.Equal(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.Data, after.Data)
}
