// SPDX-License-Identifier: Apache-2.0

package readiness_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestAddGate(t *testing.T) {
	const gate = v1alpha1.KruisePodReady
	tests := []struct {
		name         string
		before, want []corev1.PodConditionType
	}{
		{"PR-1: appended", nil, []corev1.PodConditionType{gate}},
		{"PR-1: not when present", []corev1.PodConditionType{gate}, []corev1.PodConditionType{gate}},
		{"PR-2: other gates stay, in order", []corev1.PodConditionType{"b", "a"}, []corev1.PodConditionType{"b", "a", gate}},
		{"PR-2: no duplicate behind others", []corev1.PodConditionType{gate, "a"}, []corev1.PodConditionType{gate, "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: gates(tt.before...)}
			readiness.AddGate(&pod.Spec, gate)
			if diff := cmp.Diff(gates(tt.want...), pod.Spec); diff != "" {
				t.Errorf("gates (-want +got):\n%s", diff)
			}
			if !readiness.HasGate(pod, gate) {
				t.Error("HasGate does not see the gate")
			}
		})
	}
}

func gates(types ...corev1.PodConditionType) corev1.PodSpec {
	var spec corev1.PodSpec
	for _, t := range types {
		spec.ReadinessGates = append(spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: t})
	}
	return spec
}

func TestReadyFor(t *testing.T) {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	ready := func(status corev1.ConditionStatus, since time.Duration) *corev1.PodCondition {
		return &corev1.PodCondition{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(now.Add(-since))}
	}
	tests := []struct {
		name        string
		condition   *corev1.PodCondition
		minSeconds  int32
		ready, long bool
		wait        time.Duration
		waits       bool
	}{
		{"no condition", nil, 0, false, false, 0, false},
		{"False", ready("False", time.Hour), 0, false, false, 0, false},
		{"Unknown", ready("Unknown", time.Hour), 0, false, false, 0, false},
		{"just ready, no minimum", ready("True", 0), 0, true, true, 0, true},
		{"negative minimum counts as none", ready("True", 0), -5, true, true, 0, true},
		{"too short", ready("True", 4*time.Second), 10, true, false, 6 * time.Second, true},
		{"exactly long enough", ready("True", 10*time.Second), 10, true, true, 0, true},
		{"longer", ready("True", time.Hour), 10, true, true, 0, true},
		{"ready in the future (clocks differ)", ready("True", -time.Second), 10, true, false, 11 * time.Second, true},
		{"largest minimum", ready("True", 0), math.MaxInt32, true, false, math.MaxInt32 * time.Second, true},
		{"without a time, no minimum", &corev1.PodCondition{Type: corev1.PodReady, Status: "True"}, 0, true, true, 0, true},
		{"without a time, with a minimum", &corev1.PodCondition{Type: corev1.PodReady, Status: "True"}, 1, true, false, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "Other", Status: "True"}}}}
			if tt.condition != nil {
				pod.Status.Conditions = append(pod.Status.Conditions, *tt.condition)
			}
			if got := readiness.Ready(pod); got != tt.ready {
				t.Errorf("Ready: want %v, got %v", tt.ready, got)
			}
			if got := readiness.ReadyFor(pod, tt.minSeconds, now); got != tt.long {
				t.Errorf("ReadyFor: want %v, got %v", tt.long, got)
			}
			if wait, ok := readiness.ReadyIn(pod, tt.minSeconds, now); wait != tt.wait || ok != tt.waits {
				t.Errorf("ReadyIn: want %v %v, got %v %v", tt.wait, tt.waits, wait, ok)
			}
		})
	}
}
