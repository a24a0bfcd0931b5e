package controller

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// WorkloadChanged tells whether a plan may differ after a change of its workload
// beside the status.
func WorkloadChanged(before, after metav1.Object) bool {
	return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() ||
		(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// PodChanged tells whether a plan may differ after a change of a pod. It
// compares what planners read, so that heartbeats, probes and the records
// of other controllers cost no pass.
func PodChanged(before, after *corev1.Pod) bool {
	return before.UID != after.UID ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		before.Status.Phase != after.Status.Phase ||
		before.Spec.NodeName != after.Spec.NodeName ||
		!maps.Equal(before.Labels, after.Labels) ||
		!maps.Equal(before.Annotations, after.Annotations) ||
		!slices.Equal(before.Finalizers, after.Finalizers) ||
		behind(before) != behind(after) ||
		conditionsMatter(before, after) ||
		!slices.EqualFunc(before.Spec.Containers, after.Spec.Containers, func(a, b corev1.Container) bool { return a.Image == b.Image }) ||
		!slices.EqualFunc(before.Status.ContainerStatuses, after.Status.ContainerStatuses, sameContainer)
}

// behind tells whether an in-place update waits for the kubelet, which reports
// on an older spec than the pod has.
func behind(pod *corev1.Pod) bool {
	if c := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady); c != nil && c.Status == corev1.ConditionTrue {
		return false
	}
	return pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation
}

func sameContainer(a, b corev1.ContainerStatus) bool {
	return a.Name == b.Name && a.Ready == b.Ready && a.Image == b.Image && a.ImageID == b.ImageID &&
		a.ContainerID == b.ContainerID && a.RestartCount == b.RestartCount
}

// conditionsMatter compares the conditions that planners read: those of
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

// ClaimChanged tells whether a plan may differ after a change of a claim.
func ClaimChanged(before, after *corev1.PersistentVolumeClaim) bool {
	return before.UID != after.UID || !maps.Equal(before.Labels, after.Labels) ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
}

// RevisionChanged tells whether a plan may differ after a change of a revision.
func RevisionChanged(before, after *appsv1.ControllerRevision) bool {
	return before.UID != after.UID || before.Revision != after.Revision ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		!maps.Equal(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.Data, after.Data)
}
