// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestStatusIsWrittenOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*v1beta1.StatefulSetStatus)
		write  bool
	}{
		{"nothing differs", func(*v1beta1.StatefulSetStatus) {}, false},
		{"STS-S2: updatedReadyReplicas alone", func(s *v1beta1.StatefulSetStatus) { s.UpdatedReadyReplicas-- }, true},
		{"a condition that is over", func(s *v1beta1.StatefulSetStatus) {
			s.Conditions = []appsv1.StatefulSetCondition{{Type: v1beta1.StatefulSetConditionFailedCreatePod, Status: corev1.ConditionTrue}}
		}, true},
		{"the generation", func(s *v1beta1.StatefulSetStatus) { s.ObservedGeneration-- }, true},
		{"a counter", func(s *v1beta1.StatefulSetStatus) { s.CurrentReplicas-- }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSnapshot(t, "A", "A", "0A 1A")
			s.Set.Status = *NewPlan(s).Status
			tt.change(&s.Set.Status)
			if got := NewPlan(s).Status; (got != nil) != tt.write {
				t.Errorf("status %+v", got)
			}
		})
	}
}

func TestConditionsKeepTheirTime(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A#")
	first := NewPlan(s).Status
	want := []appsv1.StatefulSetCondition{{
		Type: v1beta1.StatefulSetConditionFailedCreatePod, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(testTime),
		Message: "create pod web-0: there is one of that name which this StatefulSet does not control; delete or rename that",
	}, {
		Type: v1beta1.StatefulSetConditionReconciling, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(testTime),
		Reason: "PodsMissing", Message: "pods are missing",
	}}
	if diff := cmp.Diff(want, first.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	s.Set.Status, s.Now = *first, s.Now.Add(1e9)
	if again := NewPlan(s).Status; again != nil {
		t.Errorf("written again: %+v", again)
	}
}
