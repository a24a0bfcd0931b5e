// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// spreadOf is the WorkloadSpread web of a Deployment, with this spec in YAML beside or instead of
// the target.
func spreadOf(t testing.TB, spec string) *v1alpha1.WorkloadSpread {
	t.Helper()
	ws := &v1alpha1.WorkloadSpread{}
	text := "metadata: {name: web, namespace: shop, generation: 1}\nspec:\n  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n"
	if err := yaml.Unmarshal([]byte(text), ws); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &ws.Spec); err != nil {
		t.Fatal(err)
	}
	return ws
}

// deployment is the Deployment web.
func deployment(replicas int32) *Workload {
	return &Workload{GroupKind: Deployments, Name: "web", UID: "web", Replicas: &replicas}
}

type option func(*corev1.Pod)

// newPod is a pod of the ReplicaSet web-1, in a subset unless that is empty, Running and ready.
func newPod(name, subset string, options ...option) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "shop", UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
		Labels: map[string]string{"pod-template-hash": "1"}, Annotations: map[string]string{},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "web-1", Controller: new(true)}},
	}}
	if subset != "" {
		pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = fmt.Sprintf(`{"name":"web","subset":%q}`, subset)
	}
	pod.Spec.NodeName = "node"
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}}
	for _, set := range options {
		set(pod)
	}
	return pod
}

// revision makes a pod one of another ReplicaSet.
func revision(hash string) option {
	return func(pod *corev1.Pod) {
		pod.Labels["pod-template-hash"] = hash
		pod.OwnerReferences[0].Name, pod.OwnerReferences[0].UID = "web-"+hash, types.UID("web-"+hash)
	}
}

func cost(text string) option {
	return func(pod *corev1.Pod) { pod.Annotations[corev1.PodDeletionCost] = text }
}

// pending makes a pod one that has no node yet, of this age.
func pending(age time.Duration) option {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeName, pod.CreationTimestamp = "", metav1.NewTime(now.Add(-age))
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	}
}

// stuck makes a pod one that the scheduler finds no node for.
func stuck(age time.Duration) option {
	return func(pod *corev1.Pod) {
		pending(age)(pod)
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
}

// of has another kind control a pod.
func of(apiVersion, kind string) option {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences[0].APIVersion, pod.OwnerReferences[0].Kind = apiVersion, kind
	}
}

func ended(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }

func deleting(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.NewTime(now)) }

// some are pods of a subset: "a" gives a0, a1 and so on.
func some(n int, subset string, options ...option) (pods []*corev1.Pod) {
	for i := range n {
		pods = append(pods, newPod(fmt.Sprint(subset, i), subset, options...))
	}
	return pods
}

// unnamed is a pod that is about to be created for the ReplicaSet web-1.
func unnamed(options ...option) *corev1.Pod {
	pod := newPod("", "", options...)
	pod.UID, pod.Spec.NodeName, pod.Status = "", "", corev1.PodStatus{}
	return pod
}
