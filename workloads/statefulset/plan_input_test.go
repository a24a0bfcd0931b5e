// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestSnapshotThatNoPlanCanBeMadeOf(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A")
	for want, s := range map[string]*Snapshot{"Set": nil, "has no Set": {Now: testTime}, "Now is zero": {Set: s.Set}} {
		plan := NewPlan(s)
		if got := problems(plan); len(plan.Problems) != 1 || !strings.Contains(got, want) {
			t.Errorf("problems %s, want one about %q", got, want)
		}
		if plan.Status != nil || plan.Revisions.Any() || len(plan.Create)+len(plan.Delete)+len(plan.Patch) > 0 {
			t.Errorf("it plans %+v", plan)
		}
	}
}

// What does not belong to the StatefulSet changes nothing of the plan.
func TestForeignObjectsAreLeftOut(t *testing.T) {
	controller := true
	foreign := metav1.ObjectMeta{Namespace: "shop", Name: "db-0", Labels: map[string]string{"app": "web"},
		OwnerReferences: []metav1.OwnerReference{{UID: "uid-other", Controller: &controller}}}
	elsewhere := foreign
	elsewhere.Namespace, elsewhere.Name, elsewhere.OwnerReferences = "other", "web-0", nil
	for _, test := range []struct {
		name string
		give edit
		want string
	}{
		{"a pod of another name", func(s *Snapshot) { s.Pods = append(s.Pods, &corev1.Pod{ObjectMeta: foreign}) }, "Snapshot.Pods: shop/db-0 left out"},
		{"a pod of another namespace", func(s *Snapshot) { s.Pods = append(s.Pods, &corev1.Pod{ObjectMeta: elsewhere}) }, "Snapshot.Pods: other/web-0 left out"},
		{"a nil pod", func(s *Snapshot) { s.Pods = append(s.Pods, nil) }, "Snapshot.Pods: nil left out"},
		{"a nil revision", func(s *Snapshot) { s.Revisions = append(s.Revisions, nil) }, "Snapshot.Revisions: nil left out"},
		{"a revision of another owner", func(s *Snapshot) {
			s.Revisions = append(s.Revisions, &appsv1.ControllerRevision{ObjectMeta: foreign, Revision: 99})
		}, "Snapshot.Revisions: shop/db-0 left out"},
		{"a nil claim", func(s *Snapshot) { s.Claims["data-web-9"] = nil }, ""},
		{"an unreadable revision of nobody", func(s *Snapshot) {
			orphan := metav1.ObjectMeta{Namespace: "shop", Name: "orphan", Labels: map[string]string{"app": "web"}}
			s.Revisions = append(s.Revisions, &appsv1.ControllerRevision{ObjectMeta: orphan, Revision: 99, Data: runtime.RawExtension{Raw: []byte("{")}})
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := testSnapshot(t, "B", "A", "0A 1B 3A", replicas(3), claims())
			s := testSnapshot(t, "B", "A", "0A 1B 3A", replicas(3), claims(), test.give)
			given := len(s.Pods) + len(s.Claims) + len(s.Revisions)
			plan := NewPlan(s)
			if diff := cmp.Diff(summary(want, NewPlan(want)), summary(s, plan)); diff != "" {
				t.Errorf("the plan changes (-want +got):\n%s", diff)
			}
			if got := problems(plan); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("problems %q, want %q", got, test.want)
			}
			if len(plan.Revisions.Adopt) > 0 {
				t.Errorf("it adopts %s", plan.Revisions.Adopt[0].Name)
			}
			if len(s.Pods)+len(s.Claims)+len(s.Revisions) != given {
				t.Error("the snapshot was changed")
			}
		})
	}
}

// A revision without a controller that cannot be read does not stop an update.
func TestUnreadableOrphan(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A 1A")
	s.Set.Spec.Template = testTemplate("B") // of which there is no revision yet
	s.Revisions = append(s.Revisions, &appsv1.ControllerRevision{Revision: 99, Data: runtime.RawExtension{Raw: []byte("{")},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orphan", Labels: map[string]string{"app": "web"}}})
	plan := NewPlan(s)
	if plan.Revisions.Create == nil || summary(s, plan) != "delete 1 Update" || len(plan.Problems) > 0 {
		t.Errorf("it plans %q, creates revision %v, problems %s", summary(s, plan), plan.Revisions.Create, problems(plan))
	}
}

// Whatever a caller gives: a plan, no panic, and nothing about pods of others.
func TestBrokenSnapshots(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := testSnapshot(t, "B", "A", "0A 1B- 2A~ 3A! 4A# 5A@", replicas(5))
		for range rapid.IntRange(1, 6).Draw(rt, "faults") {
			spoil(rt, s)
		}
		plan := NewPlan(s)
		for _, d := range plan.Delete {
			if d.Pod.Name == "web-4" {
				rt.Fatalf("it deletes %s", d.Pod.Name)
			}
		}
		for _, patch := range plan.Patch {
			if patch.Pod.Name == "web-4" {
				rt.Fatalf("it changes %s", patch.Pod.Name)
			}
		}
	})
}

// spoil breaks one thing of a snapshot.
func spoil(rt *rapid.T, s *Snapshot) {
	if s.Set == nil {
		return
	}
	set := s.Set.DeepCopy()
	s.Set = set
	n := rapid.SampledFrom([]int32{-1 << 31, -1, 0, 1, 1<<31 - 1}).Draw(rt, "number")
	faults := []func(){
		func() { s.Set = nil },
		func() { s.Now = time.Time{} },
		func() { s.Pods = slices.Insert(s.Pods, 0, nil) },
		func() { s.Pods = append(s.Pods, &corev1.Pod{}) },
		func() { s.Pods = append(s.Pods, s.Pods...) },
		func() { s.Claims = map[string]*corev1.PersistentVolumeClaim{"data-web-0": nil, "": {}} },
		func() { s.Revisions = append(s.Revisions, nil, &appsv1.ControllerRevision{}) },
		func() { s.Revisions = nil },
		func() { s.Jobs = []string{""} },
		func() { set.Spec.Replicas = &n },
		func() { set.Spec.ReserveOrdinalRanges = reserved(int(n), 1, 1, "2", "2-1", "7-7") },
		func() { set.Spec.Selector = nil },
		func() { set.Spec.Selector = &metav1.LabelSelector{} },
		func() { set.Spec.Template = corev1.PodTemplateSpec{} },
		func() { set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{}, {}} },
		func() { set.Spec.UpdateStrategy = v1beta1.StatefulSetUpdateStrategy{} },
		func() {
			set.Spec.UpdateStrategy.RollingUpdate = &v1beta1.RollingUpdateStatefulSetStrategy{Partition: &n, MinReadySeconds: &n}
		},
		func() { set.Spec.RevisionHistoryLimit = &n },
		func() { set.Status.CurrentRevision = "-" },
		func() {
			pods := slices.Clone(s.Pods)
			for i, pod := range pods {
				if pod != nil {
					pods[i] = pod.DeepCopy()
					pods[i].Labels, pods[i].Annotations, pods[i].Status = nil, nil, corev1.PodStatus{}
				}
			}
			s.Pods = pods
		},
	}
	rapid.SampledFrom(faults).Draw(rt, "fault")()
}
