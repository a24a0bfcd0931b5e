// SPDX-License-Identifier: Apache-2.0

package podreadiness_test

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var now = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// gated is a pod with the gate and without the condition, created a second ago.
func gated(edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0", UID: "u", CreationTimestamp: metav1.NewTime(now.Add(-time.Second))},
		Spec: corev1.PodSpec{
			NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "web:1"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.KruisePodReady}},
		},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func ownedBy(apiVersion, kind string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "web", UID: "w", Controller: new(true)}}
	}
}

func condition(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: v1alpha1.KruisePodReady, Status: status})
	}
}

func TestPlan(t *testing.T) {
	terminating := func(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.NewTime(now)) }
	old := func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now.Add(-podreadiness.OwnersTime)) }
	for _, test := range []struct {
		name string
		pod  *corev1.Pod
		set  bool
		wait time.Duration
	}{
		{"PR-3: the gate without the condition", gated(), true, 0},
		{"PR-3: of a workload of Kubernetes", gated(ownedBy("apps/v1", "StatefulSet")), true, 0},
		{"PR-3: of another workload of the group", gated(ownedBy("apps.kruise.io/v1alpha1", "BroadcastJob")), true, 0},
		{"PR-3: the condition is True", gated(condition("True")), false, 0},
		{"PR-3: the condition is False", gated(condition("False")), false, 0},
		{"PR-3: the condition has no status", gated(condition("")), false, 0},
		{"DP-E6: being deleted", gated(terminating), false, 0},
		{"PR-E7: no gate", gated(func(pod *corev1.Pod) { pod.Spec.ReadinessGates = nil }), false, 0},
		{"a CloneSet does it itself", gated(ownedBy("apps.kruise.io/v1alpha1", "CloneSet")), false, 9 * time.Second},
		{"a StatefulSet does it itself", gated(ownedBy("apps.kruise.io/v1beta1", "StatefulSet")), false, 9 * time.Second},
		{"a CloneSet has not done it", gated(ownedBy("apps.kruise.io/v1alpha1", "CloneSet"), old), true, 0},
		{"a CloneSet has done it", gated(ownedBy("apps.kruise.io/v1alpha1", "CloneSet"), condition("True")), false, 0},
		{"an owner of no group", gated(ownedBy("a/b/c", "CloneSet")), true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := podreadiness.NewPlan(&podreadiness.Snapshot{Pod: test.pod, Now: now})
			if (plan.Patch != nil) != test.set || plan.RequeueAfter != test.wait {
				t.Fatalf("sets the condition: %v, looks again after %v; want %v, %v", plan.Patch != nil, plan.RequeueAfter, test.set, test.wait)
			}
			if plan.Patch == nil {
				return
			}
			if c := plan.Patch.Condition(test.pod, v1alpha1.KruisePodReady); c.Status != corev1.ConditionTrue || c.Message != "" || c.Reason != "" || !c.LastTransitionTime.Time.Equal(now) {
				t.Errorf("condition %+v", c)
			}
		})
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*podreadiness.Snapshot{nil, {}} {
		if plan := podreadiness.NewPlan(s); !reflect.DeepEqual(plan, &podreadiness.Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
