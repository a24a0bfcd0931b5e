// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// Fields is a set of fields of an object. A kind declares those that its plan
// reads; what changes in an event is compared once for all kinds.
type Fields uint64

// The fields of every object. identity is always among the declared ones.
const (
	// identity is the UID, and whether the object is being deleted.
	identity Fields = 1 << iota
	Owners
	Labels
	Annotations
	Finalizers
	// Generation stands for the spec of objects whose generation counts its changes.
	Generation
	// Status is all of the status.
	Status
)

// The fields of pods. Times at which a kubelet looked do not count.
const (
	NodeName Fields = 1 << (iota + 7)
	Phase
	// Images are those of the spec.
	Images
	// Containers is which containers run which image, how often they restarted, and
	// whether they are ready.
	Containers
	// ContainerStates is whether containers run or have ended, and how; Waiting is
	// why they do not run yet.
	ContainerStates
	Waiting
	// ObservedGeneration is whether the kubelet is behind the spec of a pod that is
	// being updated in place, by its workload or by a SidecarSet.
	ObservedGeneration
	Ready
	ContainersReady
	InPlaceUpdateReady
	KruisePodReady
	// ReadinessGates is whether the conditions of the pod's own gates hold.
	ReadinessGates
	// Restarts is how often containers restarted, init containers among them, all together.
	Restarts
	// Scheduled is whether the scheduler has found a node, and why not.
	Scheduled
	// Conditions is which conditions a pod has, whether they hold, and what they say.
	Conditions
	// EphemeralContainers is which there are, whether they run or why they do not yet, and
	// how they have ended. What is there never changes in the spec.
	EphemeralContainers
	// Resize is which cpu and memory the containers of a pod are to have. It is also, while a resize
	// of it is under way, what they have, and how far the kubelet is with that. Whether it
	// reports what they have counts always.
	Resize
	// SidecarTerminated is whether a pod was given its phase, and since when.
	SidecarTerminated
)

// The fields of other objects.
const (
	// NodeReady is the condition of a node.
	NodeReady Fields = 1 << (iota + 25)
	// RevisionData is what a revision holds, and its number.
	RevisionData
	// Placement is what decides, beside labels, which pods fit a node: whether it is
	// schedulable, its taints, and what is allocatable.
	Placement
	// Data is what a Secret or a ConfigMap holds.
	Data
	// Unreachable is whether nothing is heard of a node, and since when.
	Unreachable
)

// Trouble is what is wrong with a pod that is not ready, in the words of heldup.OfPod.
const Trouble Fields = 1 << 30

// Storage is how much storage a claim asks for.
const Storage Fields = 1 << 31

// Volume is what a claim asks of its volume, and what it has of that.
const Volume Fields = 1 << 32

// Address is the first address of a pod.
const Address Fields = 1 << 33

// SidecarSetUpgradable is what SidecarSets say on a pod of its update in place.
const SidecarSetUpgradable Fields = 1 << 35

// Everything is what is new about an object that appears or goes.
const Everything = ^Fields(0)

// field tells whether a field of T differs.
type field[T any] struct {
	bit    Fields
	differ func(before, after T) bool
}

// Changed returns the fields, out of those asked for, that differ between two
// states of an object, which are of the same type.
func Changed(before, after metav1.Object, of Fields) Fields {
	changed := compare(metadata, before, after, of|identity)
	switch after := after.(type) {
	case *corev1.Pod:
		return changed | compare(podFields, before.(*corev1.Pod), after, of)
	case *corev1.Node:
		return changed | compare(nodeFields, before.(*corev1.Node), after, of)
	case *appsv1.ControllerRevision:
		return changed | compare(revisionFields, before.(*appsv1.ControllerRevision), after, of)
	case *corev1.PersistentVolumeClaim:
		return changed | compare(claimFields, before.(*corev1.PersistentVolumeClaim), after, of)
	case *corev1.Secret:
		return changed | compare(secretFields, before.(*corev1.Secret), after, of)
	case *corev1.ConfigMap:
		return changed | compare(configMapFields, before.(*corev1.ConfigMap), after, of)
	}
	return changed
}

func compare[T any](fields []field[T], before, after T, of Fields) (changed Fields) {
	for i := range fields {
		if of&fields[i].bit != 0 && fields[i].differ(before, after) {
			changed |= fields[i].bit
		}
	}
	return changed
}

var metadata = []field[metav1.Object]{
	{identity, func(b, a metav1.Object) bool {
		return b.GetUID() != a.GetUID() || (b.GetDeletionTimestamp() == nil) != (a.GetDeletionTimestamp() == nil)
	}},
	{Owners, func(b, a metav1.Object) bool {
		return !slices.EqualFunc(b.GetOwnerReferences(), a.GetOwnerReferences(), sameOwner)
	}},
	{Labels, func(b, a metav1.Object) bool { return !maps.Equal(b.GetLabels(), a.GetLabels()) }},
	{Annotations, func(b, a metav1.Object) bool { return !maps.Equal(b.GetAnnotations(), a.GetAnnotations()) }},
	{Finalizers, func(b, a metav1.Object) bool { return !slices.Equal(b.GetFinalizers(), a.GetFinalizers()) }},
	{Generation, func(b, a metav1.Object) bool { return b.GetGeneration() != a.GetGeneration() }},
	{Status, func(b, a metav1.Object) bool { return !equality.Semantic.DeepEqual(statusOf(b), statusOf(a)) }},
}

// sameOwner compares what is read of an owner.
func sameOwner(a, b metav1.OwnerReference) bool {
	return a.UID == b.UID && a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name &&
		ptr.Deref(a.Controller, false) == ptr.Deref(b.Controller, false)
}

// statusOf returns a pointer to the status of an object, nil if it has none.
func statusOf(object metav1.Object) any {
	status := reflect.ValueOf(object).Elem().FieldByName("Status")
	if !status.IsValid() {
		return nil
	}
	return status.Addr().Interface()
}

var podFields = []field[*corev1.Pod]{
	{NodeName, func(b, a *corev1.Pod) bool { return b.Spec.NodeName != a.Spec.NodeName }},
	{Phase, func(b, a *corev1.Pod) bool { return b.Status.Phase != a.Status.Phase }},
	{Images, func(b, a *corev1.Pod) bool {
		return !slices.EqualFunc(b.Spec.Containers, a.Spec.Containers, func(b, a corev1.Container) bool { return b.Image == a.Image })
	}},
	{Containers, statuses(sameContainer)},
	{ContainerStates, statuses(sameState)},
	{Waiting, statuses(func(b, a *corev1.ContainerStatus) bool {
		return b.Name == a.Name && ptr.Equal(b.State.Waiting, a.State.Waiting)
	})},
	{NativeSidecars, nativesDiffer},
	{ObservedGeneration, func(b, a *corev1.Pod) bool { return behind(b) != behind(a) }},
	{Ready, condition(corev1.PodReady)},
	{ContainersReady, condition(corev1.ContainersReady)},
	{InPlaceUpdateReady, condition(inplacev1alpha1.InPlaceUpdateReady)},
	{KruisePodReady, condition(lifecyclev1alpha1.KruisePodReady)},
	{SidecarTerminated, condition(sidecarv1alpha1.SidecarTerminatedCondition)},
	{ReadinessGates, gatesDiffer},
	{Restarts, func(b, a *corev1.Pod) bool { return RestartsOf(b) != RestartsOf(a) }},
	{Scheduled, func(b, a *corev1.Pod) bool {
		was, is := readiness.Condition(b, corev1.PodScheduled), readiness.Condition(a, corev1.PodScheduled)
		if was == nil || is == nil {
			return was != is
		}
		return was.Status != is.Status || was.Reason != is.Reason
	}},
	{Conditions, func(b, a *corev1.Pod) bool {
		return !slices.EqualFunc(b.Status.Conditions, a.Status.Conditions, func(b, a corev1.PodCondition) bool {
			return b.Type == a.Type && b.Status == a.Status && b.Message == a.Message
		})
	}},
	{SidecarSetUpgradable, func(b, a *corev1.Pod) bool {
		return !equality.Semantic.DeepEqual(readiness.Condition(b, sidecarv1alpha1.SidecarSetUpgradable), readiness.Condition(a, sidecarv1alpha1.SidecarSetUpgradable))
	}},
	{Address, func(b, a *corev1.Pod) bool { return b.Status.PodIP != a.Status.PodIP }},
	{Trouble, func(b, a *corev1.Pod) bool { return heldup.OfPod(b) != heldup.OfPod(a) }},
	{Resize, resizeDiffers},
	{EphemeralContainers, func(b, a *corev1.Pod) bool {
		return !slices.EqualFunc(b.Spec.EphemeralContainers, a.Spec.EphemeralContainers, func(b, a corev1.EphemeralContainer) bool { return b.Name == a.Name }) ||
			!slices.EqualFunc(b.Status.EphemeralContainerStatuses, a.Status.EphemeralContainerStatuses, func(b, a corev1.ContainerStatus) bool {
				return b.Name == a.Name && (b.State.Running == nil) == (a.State.Running == nil) &&
					ptr.Equal(b.State.Waiting, a.State.Waiting) && equality.Semantic.DeepEqual(b.State.Terminated, a.State.Terminated)
			})
	}},
}

// resizeDiffers compares what a resize is told from.
func resizeDiffers(b, a *corev1.Pod) bool {
	if !slices.EqualFunc(b.Spec.Containers, a.Spec.Containers, func(b, a corev1.Container) bool {
		return equality.Semantic.DeepEqual(b.Resources, a.Resources)
	}) {
		return true
	}
	resized := inplace.BeingResized(a)
	if statuses(func(b, a *corev1.ContainerStatus) bool {
		return (b.Resources == nil) == (a.Resources == nil) && (!resized || equality.Semantic.DeepEqual(b.Resources, a.Resources))
	})(b, a) {
		return true
	}
	return resized && (unobserved(b) != unobserved(a) || resizeCondition(corev1.PodResizePending)(b, a) || resizeCondition(corev1.PodResizeInProgress)(b, a))
}

// resizeCondition tells whether a condition about a resize differs, and whether it is about
// the present spec.
func resizeCondition(t corev1.PodConditionType) func(before, after *corev1.Pod) bool {
	return func(before, after *corev1.Pod) bool {
		b, a := readiness.Condition(before, t), readiness.Condition(after, t)
		if b == nil || a == nil {
			return b != a
		}
		stale := func(c *corev1.PodCondition, pod *corev1.Pod) bool {
			return c.ObservedGeneration != 0 && c.ObservedGeneration < pod.Generation
		}
		return b.Status != a.Status || b.Reason != a.Reason || b.Message != a.Message || stale(b, before) != stale(a, after)
	}
}

// RestartsOf returns how often the containers of a pod restarted, init containers
// among them, all together.
func RestartsOf(pod *corev1.Pod) (restarts int32) {
	for i := range pod.Status.InitContainerStatuses {
		restarts += pod.Status.InitContainerStatuses[i].RestartCount
	}
	for i := range pod.Status.ContainerStatuses {
		restarts += pod.Status.ContainerStatuses[i].RestartCount
	}
	return restarts
}

// statuses tells whether the statuses of containers differ.
func statuses(same func(before, after *corev1.ContainerStatus) bool) func(before, after *corev1.Pod) bool {
	return func(before, after *corev1.Pod) bool {
		b, a := before.Status.ContainerStatuses, after.Status.ContainerStatuses
		if len(b) != len(a) {
			return true
		}
		for i := range b {
			if !same(&b[i], &a[i]) {
				return true
			}
		}
		return false
	}
}

// behind tells whether the kubelet has yet to see the spec of a pod that is being
// updated in place. It counts generations itself, and a pod in service costs
// nothing for that, unless a SidecarSet has replaced images of it: that changes no
// condition.
func behind(pod *corev1.Pod) bool {
	if c := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady); c != nil && c.Status == corev1.ConditionTrue &&
		pod.Annotations[sidecarv1alpha1.SidecarSetInPlaceUpdateStateAnnotation] == "" {
		return false
	}
	return unobserved(pod)
}

// unobserved tells whether the kubelet has yet to see the spec of a pod.
func unobserved(pod *corev1.Pod) bool {
	return pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation
}

// condition tells whether a condition differs, but for when it was looked at.
func condition(t corev1.PodConditionType) func(before, after *corev1.Pod) bool {
	return func(before, after *corev1.Pod) bool {
		b, a := readiness.Condition(before, t), readiness.Condition(after, t)
		if b == nil || a == nil {
			return b != a
		}
		return b.Status != a.Status || b.Reason != a.Reason || b.Message != a.Message || !b.LastTransitionTime.Equal(&a.LastTransitionTime)
	}
}

func gatesDiffer(before, after *corev1.Pod) bool {
	for _, gate := range after.Spec.ReadinessGates {
		b, a := readiness.Condition(before, gate.ConditionType), readiness.Condition(after, gate.ConditionType)
		if (b == nil) != (a == nil) || b != nil && b.Status != a.Status {
			return true
		}
	}
	return false
}

var nodeFields = []field[*corev1.Node]{
	{NodeReady, func(b, a *corev1.Node) bool {
		was, is := readyCondition(b), readyCondition(a)
		if was == nil || is == nil {
			return was != is
		}
		return was.Status != is.Status || !was.LastTransitionTime.Equal(&is.LastTransitionTime)
	}},
	{Placement, func(b, a *corev1.Node) bool {
		return b.Spec.Unschedulable != a.Spec.Unschedulable || !equality.Semantic.DeepEqual(b.Spec.Taints, a.Spec.Taints) ||
			!equality.Semantic.DeepEqual(b.Status.Allocatable, a.Status.Allocatable)
	}},
	{Unreachable, func(b, a *corev1.Node) bool {
		from, was := nodefit.Unreachable(b)
		since, is := nodefit.Unreachable(a)
		return was != is || !from.Equal(since)
	}},
}

func readyCondition(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}

var revisionFields = []field[*appsv1.ControllerRevision]{
	{RevisionData, func(b, a *appsv1.ControllerRevision) bool {
		return b.Revision != a.Revision || !equality.Semantic.DeepEqual(b.Data, a.Data)
	}},
}

var claimFields = []field[*corev1.PersistentVolumeClaim]{
	{Storage, func(b, a *corev1.PersistentVolumeClaim) bool {
		return !b.Spec.Resources.Requests.Storage().Equal(*a.Spec.Resources.Requests.Storage())
	}},
	{Volume, func(b, a *corev1.PersistentVolumeClaim) bool {
		return !ptr.Equal(b.Spec.StorageClassName, a.Spec.StorageClassName) || !slices.Equal(b.Spec.AccessModes, a.Spec.AccessModes) ||
			!b.Status.Capacity.Storage().Equal(*a.Status.Capacity.Storage()) || !equality.Semantic.DeepEqual(b.Status.Conditions, a.Status.Conditions)
	}},
}

var secretFields = []field[*corev1.Secret]{
	{Data, func(b, a *corev1.Secret) bool {
		return !maps.EqualFunc(b.Data, a.Data, bytes.Equal) || !ptr.Equal(b.Immutable, a.Immutable)
	}},
}

var configMapFields = []field[*corev1.ConfigMap]{
	{Data, func(b, a *corev1.ConfigMap) bool {
		return !maps.Equal(b.Data, a.Data) || !maps.EqualFunc(b.BinaryData, a.BinaryData, bytes.Equal) || !ptr.Equal(b.Immutable, a.Immutable)
	}},
}
