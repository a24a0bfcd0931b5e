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

// settledStatus is what a status is compared with: the counters in short.
type settledStatus struct {
	Replicas, Ready, Available, Current, Updated, UpdatedReady, UpdatedAvailable int32
	CurrentRevision                                                              string
}

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		name, template, current, pods string
		edits                         []edit
		want                          settledStatus
	}{
		{"all pods count, terminating and surplus ones too", "A", "A", "0A 1A- 2A~ 3A", with(replicas(2)), settledStatus{4, 3, 3, 3, 3, 3, 3, "A"}},
		{"a terminating pod counts as ready, but not as updated", "B", "A", "0A 1B~", nil, settledStatus{2, 2, 2, 1, 0, 1, 1, "A"}},
		{"available is ready for minReadySeconds", "A", "A", "0A 1A%", with(minReady(60)), settledStatus{2, 2, 1, 2, 2, 2, 1, "A"}},
		{"updated pods that are not ready", "B", "A", "0A 1B-", nil, settledStatus{2, 1, 1, 1, 1, 0, 0, "A"}},
		{"STS-S1: the update is complete", "B", "A", "0B 1B", nil, settledStatus{2, 2, 2, 2, 2, 2, 2, "B"}},
		{"the partition is not considered", "B", "A", "0A 1B", with(partition(1)), settledStatus{2, 2, 2, 1, 1, 1, 1, "A"}},
		{"not complete before all are ready", "B", "A", "0B 1B-", nil, settledStatus{2, 1, 1, 0, 2, 1, 1, "A"}},
		{"OnDelete completes nothing", "B", "A", "0B", with(onDelete), settledStatus{1, 1, 1, 0, 1, 1, 1, "A"}},
		{"pods of other owners do not count", "A", "A", "0A 1A# 2A@", nil, settledStatus{1, 1, 1, 1, 1, 1, 1, "A"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSnapshot(t, tt.template, tt.current, tt.pods, tt.edits...)
			got := NewPlan(s).Status
			if got == nil {
				t.Fatal("no status is written")
			}
			short := settledStatus{got.Replicas, got.ReadyReplicas, got.AvailableReplicas, got.CurrentReplicas,
				got.UpdatedReplicas, got.UpdatedReadyReplicas, got.UpdatedAvailableReplicas, letterOf(s, got.CurrentRevision)}
			if diff := cmp.Diff(tt.want, short); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if got.ObservedGeneration != 1 || got.LabelSelector != "app=web" || got.UpdateRevision != testName(s, tt.template) {
				t.Errorf("status %+v", got)
			}
		})
	}
}

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
