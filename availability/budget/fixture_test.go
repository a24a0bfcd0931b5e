// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

var start = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// newPod is a pod that serves, of the CloneSet web.
func newPod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": "web"},
			Annotations:     map[string]string{v1alpha1.RelatedPubAnnotation: "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "web", Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "nginx:1", ImageID: "nginx@sha256:aa", Ready: true}},
		},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// newPods are pods that serve, pod-0 and so on.
func newPods(n int, changes ...func(*corev1.Pod)) (pods []*corev1.Pod) {
	for i := range n {
		pods = append(pods, newPod(fmt.Sprintf("pod-%d", i), changes...))
	}
	return pods
}

func unready(pod *corev1.Pod) { pod.Status.Conditions[0].Status = corev1.ConditionFalse }

func deleting(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: start} }

func phase(p corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = p }
}

func ownedBy(uid types.UID) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = uid }
}

func controlledBy(apiVersion, kind, name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name), Controller: ptr.To(true)}}
	}
}

func bare(pod *corev1.Pod) { pod.OwnerReferences = nil }

func label(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[key] = value }
}

func annotate(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[key] = value }
}

// newBudget is a budget of the pods of the CloneSet web, whose status was written.
func newBudget(changes ...func(*v1alpha1.PodUnavailableBudget)) *v1alpha1.PodUnavailableBudget {
	b := &v1alpha1.PodUnavailableBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 2},
		Spec: v1alpha1.PodUnavailableBudgetSpec{
			TargetReference: &v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"},
			MaxUnavailable:  ptr.To(intstr.FromInt32(1)),
		},
		Status: v1alpha1.PodUnavailableBudgetStatus{
			ObservedGeneration: 2, TotalReplicas: 10, DesiredAvailable: 9, CurrentAvailable: 10, UnavailableAllowed: 1,
		},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}

func maxUnavailable(value string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) { b.Spec.MaxUnavailable = ptr.To(intstr.Parse(value)) }
}

func minAvailable(value string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) {
		b.Spec.MaxUnavailable, b.Spec.MinAvailable = nil, ptr.To(intstr.Parse(value))
	}
}

func selecting(labels map[string]string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) {
		b.Spec.TargetReference, b.Spec.Selector = nil, &metav1.LabelSelector{MatchLabels: labels}
	}
}

func protecting(list string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) {
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, v1alpha1.PubProtectOperationAnnotation, list)
	}
}

func protectTotal(text string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) {
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, v1alpha1.PubProtectTotalReplicasAnnotation, text)
	}
}

// status changes the numbers of the status, and its records.
func status(change func(*v1alpha1.PodUnavailableBudgetStatus)) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) { change(&b.Status) }
}

func workload(group, kind, name string, replicas int32, controller types.UID) *budget.Workload {
	w := &budget.Workload{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Name: name, UID: types.UID(name), Replicas: &replicas}
	if controller != "" {
		w.Controller = &metav1.OwnerReference{UID: controller}
	}
	return w
}

func workloads(list ...*budget.Workload) budget.Workloads {
	all := budget.Workloads{}
	for _, w := range list {
		all[w.UID] = w
	}
	return all
}

func none(*corev1.Pod) {}

func list(name corev1.ResourceName, value string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(value)}
}
