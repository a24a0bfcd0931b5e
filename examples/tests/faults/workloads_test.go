// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// The workloads, by name. All names are of one word.
const (
	orderedInPlace   = "ordered"   // OrderedReady, updated in place, claims are retained
	orderedRecreate  = "careful"   // OrderedReady, recreated, claims go with pods that are scaled in
	parallelInPlace  = "parallel"  // Parallel, two at a time in place, held by an inPlaceUpdate hook
	parallelRecreate = "hasty"     // Parallel, two at a time recreated, held by a preDelete hook, claims go
	clonedInPlace    = "cloned"    // updated in place, with claims
	clonedRecreate   = "recreated" // recreated, with claims
	clonedSurge      = "surging"   // in place, no pod is missed
	clonedHooked     = "hooked"    // in place, held by both hooks
	clonedGuarded    = "guarded"   // with a budget; its users change nothing, and evict and delete its pods
)

var (
	statefulSets = []string{orderedInPlace, orderedRecreate, parallelInPlace, parallelRecreate, pinned}
	cloneSets    = []string{clonedInPlace, clonedRecreate, clonedSurge, clonedHooked, spreadCloned}
)

const (
	// holdDelete and holdUpdate are the labels of hooks.
	holdDelete = "example.com/hold-delete"
	holdUpdate = "example.com/hold-update"

	claimTemplate = "data"
)

func hook(label string) *lifecyclev1alpha1.LifecycleHook {
	return &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{label: "yes"}}
}

// image is that of the container main.
func image(n int) string { return fmt.Sprintf("web:%d", n) }

// template is that of a workload; with the labels of the SidecarSets of its pods, and others.
func template(name string, labels ...string) corev1.PodTemplateSpec {
	t := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: new(false),
			Containers:                   []corev1.Container{{Name: "main", Image: image(1)}, {Name: "side", Image: "proxy:1"}},
			ReadinessGates:               []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}},
		},
	}
	for _, label := range slices.Concat(withSidecars[name], labels) {
		t.Labels[label] = "yes"
	}
	return t
}

func claims() []corev1.PersistentVolumeClaim {
	return []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: claimTemplate}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		},
	}}}
}

func cloneSet(name string) *v1alpha1.CloneSet {
	set := &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: new(int32(5)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: template(name),
		},
	}
	update := &set.Spec.UpdateStrategy
	update.Type, update.MaxUnavailable = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, new(intstr.FromInt32(2))
	switch name {
	case clonedInPlace:
		set.Spec.VolumeClaimTemplates = claims()
	case clonedRecreate:
		set.Spec.VolumeClaimTemplates = claims()
		update.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
	case spreadCloned:
		update.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
	case clonedGuarded:
		update.MaxSurge = new(intstr.FromInt32(1))
	case clonedSurge:
		update.MaxUnavailable, update.MaxSurge = new(intstr.FromInt32(0)), new(intstr.FromInt32(2))
	case clonedHooked:
		set.Spec.Template = template(name, holdDelete, holdUpdate)
		set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreDelete: hook(holdDelete), InPlaceUpdate: hook(holdUpdate)}
	}
	return set
}

func statefulSet(name string) *v1beta1.StatefulSet {
	set := &v1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1beta1.StatefulSetSpec{
			Replicas:             new(int32(4)),
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template:             template(name),
			VolumeClaimTemplates: claims(),
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			UpdateStrategy: v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{
				PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType, MaxUnavailable: new(intstr.FromInt32(2)),
			}},
		},
	}
	update := set.Spec.UpdateStrategy.RollingUpdate
	if name == orderedInPlace || name == orderedRecreate {
		set.Spec.PodManagementPolicy, update.MaxUnavailable = appsv1.OrderedReadyPodManagement, nil
	}
	if name == orderedRecreate || name == parallelRecreate {
		update.PodUpdatePolicy = v1beta1.RecreatePodUpdateStrategyType
		set.Spec.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		}
	}
	switch name {
	case pinned:
		set.Annotations, set.Spec.VolumeClaimTemplates = persistent(), nil
		update.PodUpdatePolicy = v1beta1.RecreatePodUpdateStrategyType
	case parallelInPlace:
		set.Spec.Template.Labels[holdUpdate] = "yes"
		set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{InPlaceUpdate: hook(holdUpdate)}
		set.Spec.Lifecycle.InPlaceUpdate.MarkPodNotReady = true
	case parallelRecreate:
		set.Spec.Template.Labels[holdDelete] = "yes"
		set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreDelete: hook(holdDelete)}
	}
	return set
}
