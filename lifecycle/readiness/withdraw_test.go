// SPDX-License-Identifier: Apache-2.0

package readiness_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/readiness"
)

func TestWithdraw(t *testing.T) {
	const (
		missingG = `corresponding condition of pod readiness gate "example.com/g" does not exist.`
		falseH   = `the status of pod readiness gate "H" is not "True", but False`
	)
	type conditions map[corev1.PodConditionType]corev1.ConditionStatus
	tests := []struct {
		name    string
		gates   []corev1.PodConditionType
		pod     conditions
		patched conditions
		want    string // the message of Ready in the patch; empty: not set
	}{
		{"IP-11: a gate without condition", []corev1.PodConditionType{"example.com/g"}, conditions{"Ready": "True", "ContainersReady": "True"}, nil, missingG},
		{"IP-11: a gate that is False", []corev1.PodConditionType{"H"}, conditions{"Ready": "True", "ContainersReady": "True", "H": "False"}, nil, falseH},
		{"IP-11: a gate that is Unknown", []corev1.PodConditionType{"H"}, conditions{"Ready": "True", "ContainersReady": "True", "H": "Unknown"}, nil, `the status of pod readiness gate "H" is not "True", but Unknown`},
		{"IP-11: each failing gate is listed, in order", []corev1.PodConditionType{"example.com/g", "I", "H"}, conditions{"Ready": "True", "ContainersReady": "True", "H": "False", "I": "True"}, nil, missingG + ", " + falseH},
		{"PR-6: the patch counts", []corev1.PodConditionType{"H"}, conditions{"Ready": "True", "ContainersReady": "True", "H": "True"}, conditions{"H": "False"}, falseH},
		{"PR-6: the patch counts the other way too", []corev1.PodConditionType{"H"}, conditions{"Ready": "True", "ContainersReady": "True", "H": "False"}, conditions{"H": "True"}, ""},
		{"PR-6: all gates True", []corev1.PodConditionType{"H"}, conditions{"Ready": "True", "ContainersReady": "True", "H": "True"}, nil, ""},
		{"PR-6: no gates", nil, conditions{"Ready": "True", "ContainersReady": "True"}, nil, ""},
		{"PR-6: no Ready condition", []corev1.PodConditionType{"H"}, conditions{"ContainersReady": "True"}, nil, ""},
		{"PR-6: Ready is False already", []corev1.PodConditionType{"H"}, conditions{"Ready": "False", "ContainersReady": "True"}, nil, ""},
		{"PR-6: ContainersReady missing", []corev1.PodConditionType{"H"}, conditions{"Ready": "True"}, nil, ""},
		{"PR-E9: ContainersReady False", []corev1.PodConditionType{"H"}, conditions{"Ready": "True", "ContainersReady": "False"}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: gates(tt.gates...)}
			for typ, status := range tt.pod {
				pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: typ, Status: status})
			}
			var p podpatch.Patch
			for typ, status := range tt.patched {
				p.SetCondition(corev1.PodCondition{Type: typ, Status: status})
			}
			before := len(p.Conditions)
			readiness.Withdraw(&p, pod, now)
			var want []corev1.PodCondition
			if tt.want != "" {
				want = []corev1.PodCondition{{Type: "Ready", Status: "False", Reason: "ReadinessGatesNotReady", Message: tt.want, LastTransitionTime: metav1.NewTime(now)}}
			}
			if diff := cmp.Diff(want, append([]corev1.PodCondition(nil), p.Conditions[before:]...)); diff != "" {
				t.Errorf("conditions added (-want +got):\n%s", diff)
			}
		})
	}
}

// A second gate that closes in the same patch is named as well.
func TestWithdrawTwice(t *testing.T) {
	pod := &corev1.Pod{Spec: gates("A", "B"), Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: "Ready", Status: "True"}, {Type: "ContainersReady", Status: "True"}, {Type: "A", Status: "True"}, {Type: "B", Status: "True"},
	}}}
	var p podpatch.Patch
	for _, gate := range []corev1.PodConditionType{"A", "B"} {
		p.SetCondition(corev1.PodCondition{Type: gate, Status: "False"})
		readiness.Withdraw(&p, pod, now)
	}
	want := `the status of pod readiness gate "A" is not "True", but False, the status of pod readiness gate "B" is not "True", but False`
	if got := p.Condition(pod, corev1.PodReady).Message; got != want {
		t.Errorf("message:\nwant %s\ngot  %s", want, got)
	}
}
