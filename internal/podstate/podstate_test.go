// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEnded(t *testing.T) {
	for phase, ended := range map[corev1.PodPhase]bool{
		"": false, corev1.PodPending: false, corev1.PodRunning: false, corev1.PodUnknown: false, corev1.PodSucceeded: true, corev1.PodFailed: true,
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		if Ended(pod) != ended || Active(pod) == ended {
			t.Errorf("phase %q: ended %t, active %t", phase, Ended(pod), Active(pod))
		}
		pod.DeletionTimestamp = &metav1.Time{}
		if Active(pod) {
			t.Errorf("phase %q, being deleted: active", phase)
		}
	}
}

func TestContainers(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}, {Name: "log", Image: "log:1"}, {Name: "new"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "log", Ready: true}, {Name: "main"}}
	if c := Container(pod, "log"); c != &pod.Spec.Containers[1] {
		t.Errorf("container log: %v", c)
	}
	if s := ContainerStatus(pod, "log"); s != &pod.Status.ContainerStatuses[0] {
		t.Errorf("status of container log: %v", s)
	}
	if c, s := Container(pod, "other"), ContainerStatus(pod, "new"); c != nil || s != nil {
		t.Errorf("container %v, status %v; want none", c, s)
	}
	for name, want := range map[string]bool{"log": true, "main": false, "new": false, "other": false} {
		if got := ContainerReady(pod, name); got != want {
			t.Errorf("container %s is ready: %t, want %t", name, got, want)
		}
	}
}

func TestNeverReady(t *testing.T) {
	created := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	reported := func(status corev1.ConditionStatus, after time.Duration) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(created.Add(after))}}
	}
	ran, restarted := []corev1.ContainerStatus{{ContainerID: "c"}}, []corev1.ContainerStatus{{RestartCount: 1}}
	for name, test := range map[string]struct {
		conditions []corev1.PodCondition
		containers []corev1.ContainerStatus
		started    time.Duration // when the kubelet took the pod, after its creation; 0 if it does not say
		want       bool
	}{
		"nothing is reported":                      {nil, nil, 0, true},
		"it is ready":                              {reported(corev1.ConditionTrue, 0), ran, 0, false},
		"not ready from the first":                 {reported(corev1.ConditionFalse, time.Second), ran, 0, true},
		"not ready later":                          {reported(corev1.ConditionFalse, 2*time.Second), ran, 0, false},
		"not ready later, and restarted":           {reported(corev1.ConditionFalse, 2*time.Second), restarted, 0, false},
		"no container has run":                     {reported(corev1.ConditionFalse, time.Hour), []corev1.ContainerStatus{{}}, 0, true},
		"it waited for a node, and never was":      {reported(corev1.ConditionFalse, time.Minute), restarted, time.Minute, true},
		"its kubelet was slow, and it never was":   {reported(corev1.ConditionFalse, 3*time.Second), ran, 2 * time.Second, true},
		"it waited for a node, and was ready then": {reported(corev1.ConditionFalse, time.Minute+2*time.Second), ran, time.Minute, false},
		"it waited for a node, and is ready":       {reported(corev1.ConditionTrue, time.Minute), ran, time.Minute, false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: created}, Status: corev1.PodStatus{Conditions: test.conditions, ContainerStatuses: test.containers}}
		if test.started > 0 {
			pod.Status.StartTime = new(metav1.NewTime(created.Add(test.started)))
		}
		if got := NeverReady(pod, created.Time); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
		// After an update in place it is not the start that counts.
		if later := created.Add(2 * time.Hour); test.conditions != nil && test.conditions[0].Status == corev1.ConditionFalse && !NeverReady(pod, later) {
			t.Errorf("%s, and updated in place later: it may have been ready since", name)
		}
	}
}
