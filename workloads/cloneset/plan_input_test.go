// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func TestSnapshotThatNoPlanCanBeMadeOf(t *testing.T) {
	w := newScenario(t)
	w.settle()
	for name, s := range map[string]*Snapshot{
		"Set": nil, "has no Set": {Now: w.Now}, "Now is zero": {Set: w.set},
	} {
		plan := NewPlan(s)
		if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Err.Error(), name) {
			t.Errorf("problems %v, want one about %q", plan.Problems, name)
		}
		if acts(plan) {
			t.Errorf("it plans %+v", plan)
		}
	}
}

// broken objects that no reader should give.
func foreign(kind string) metav1.ObjectMeta {
	controller := true
	return metav1.ObjectMeta{Namespace: "default", Name: "web-" + kind, UID: types.UID("uid-" + kind), Labels: map[string]string{"app": "web"},
		OwnerReferences: []metav1.OwnerReference{{UID: "uid-other", Controller: &controller}}}
}

// What does not belong to the CloneSet changes nothing of the plan.
func TestForeignObjectsAreLeftOut(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: foreign("pod")}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: foreign("claim")}
	elsewhere := &corev1.Pod{ObjectMeta: foreign("elsewhere")}
	elsewhere.Namespace, elsewhere.OwnerReferences[0].UID = "other", "uid-web"
	for _, test := range []struct {
		name string
		give func(*Snapshot)
		want string
	}{
		{"a pod of another owner", func(s *Snapshot) { s.Pods = append(s.Pods, pod) }, "Snapshot.Pods: default/web-pod left out"},
		{"a pod of another namespace", func(s *Snapshot) { s.Pods = append(s.Pods, elsewhere) }, "Snapshot.Pods: other/web-elsewhere left out"},
		{"a nil pod", func(s *Snapshot) { s.Pods = append(s.Pods, nil) }, "Snapshot.Pods: nil left out"},
		{"a claim of another owner", func(s *Snapshot) { s.Claims = append(s.Claims, claim) }, "Snapshot.Claims: default/web-claim left out"},
		{"a nil claim", func(s *Snapshot) { s.Claims = append(s.Claims, nil) }, "Snapshot.Claims: nil left out"},
		{"a nil revision", func(s *Snapshot) { s.Revisions = append(s.Revisions, nil) }, "Snapshot.Revisions: nil left out"},
		{"a revision of another owner", func(s *Snapshot) {
			s.Revisions = append(s.Revisions, &appsv1.ControllerRevision{ObjectMeta: foreign("revision"), Revision: 99})
		}, "Snapshot.Revisions: default/web-revision left out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newScenario(t)
			w.Spec("replicas=3", "claims=data")
			w.settle()
			s := w.snapshot()
			test.give(s)
			given := len(s.Pods) + len(s.Claims) + len(s.Revisions)
			plan := NewPlan(s)
			if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Err.Error(), test.want) {
				t.Errorf("problems %v, want %q", plan.Problems, test.want)
			}
			if plan.Status != nil {
				plan.Status.Conditions = nil
				if !statuses.Same(&s.Set.Status, plan.Status) {
					t.Errorf("the status changes to %+v", plan.Status)
				}
				plan.Status = nil
			}
			if acts(plan) {
				t.Errorf("it plans %+v", plan)
			}
			if len(s.Pods)+len(s.Claims)+len(s.Revisions) != given {
				t.Error("the snapshot was changed")
			}
		})
	}
}

// Whatever a caller gives: a plan, no panic, and nothing about what is not the CloneSet's.
func TestBrokenSnapshots(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newScenario(rt)
		w.Spec("replicas=3", "claims=data", "type=InPlaceIfPossible")
		w.settle()
		s := w.snapshot()
		for range rapid.IntRange(1, 6).Draw(rt, "faults") {
			spoil(rt, s)
		}
		plan := NewPlan(s)
		for _, d := range plan.Delete {
			if strings.HasPrefix(d.Pod.Name, "web-foreign") {
				rt.Fatalf("it deletes %s", d.Pod.Name)
			}
		}
		for _, patch := range plan.Patch {
			if strings.HasPrefix(patch.Pod.Name, "web-foreign") {
				rt.Fatalf("it changes %s", patch.Pod.Name)
			}
		}
	})
}

// spoil breaks one thing of a snapshot.
func spoil(rt *rapid.T, s *Snapshot) {
	set := s.Set
	if set == nil {
		return
	}
	set = set.DeepCopy()
	s.Set = set
	n := rapid.SampledFrom([]int32{-1 << 31, -1, 0, 1, 1<<31 - 1}).Draw(rt, "number")
	faults := []func(){
		func() { s.Set = nil },
		func() { s.Now = time.Time{} },
		func() { s.Pods = slices.Insert(s.Pods, 0, nil) },
		func() { s.Pods = append(s.Pods, &corev1.Pod{}) },
		func() { s.Pods = append(s.Pods, &corev1.Pod{ObjectMeta: foreign("foreign")}) },
		func() { s.Pods = append(s.Pods, s.Pods...) },
		func() { s.Claims = append(s.Claims, nil, &corev1.PersistentVolumeClaim{}) },
		func() { s.Revisions = append(s.Revisions, nil, &appsv1.ControllerRevision{}) },
		func() { s.Revisions = nil },
		func() { s.NodeLabels, s.Jobs = map[string]map[string]string{"": nil}, []string{""} },
		func() { set.Spec.Replicas = &n },
		func() { set.Spec.Selector = nil },
		func() { set.Spec.Selector = &metav1.LabelSelector{} },
		func() { set.Spec.Template = corev1.PodTemplateSpec{} },
		func() { set.Spec.MinReadySeconds = n },
		func() { set.Spec.RevisionHistoryLimit = &n },
		func() { set.Status.CurrentRevision = "-" },
		func() { set.UID = "" },
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
