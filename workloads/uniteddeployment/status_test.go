// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestStatus(t *testing.T) {
	w := newWorld(t, newSet(t, "replicas: 4", "revisionHistoryLimit: 1"))
	first := w.settle().Revisions.Update.Name
	for _, subset := range []string{"a", "b"} {
		edited(w, w.set(subset).Object.(*v1alpha1.CloneSet), func(o *v1alpha1.CloneSet) { o.Status.Replicas, o.Status.ReadyReplicas = 2, 1 })
		w.pod(subset+"0", w.set(subset).Object, first, true)
		w.pod(subset+"1", w.set(subset).Object, first, false)
	}
	w.pod("leaving", w.set("a").Object, first, true).DeletionTimestamp = &metav1.Time{}
	w.pod("other", w.set("a").Object, first, true).Labels["app"] = "other"
	status := NewPlan(&w.Snapshot).Status
	want := &v1alpha1.UnitedDeploymentStatus{ObservedGeneration: 1, Replicas: 4, ReadyReplicas: 2, UpdatedReplicas: 4, UpdatedReadyReplicas: 2,
		CurrentRevision: first, SubsetReplicas: map[string]int32{"a": 2, "b": 2}, Selector: "app=demo", LabelSelector: "app=demo",
		UpdateStatus: &v1alpha1.UpdateStatus{UpdatedRevision: first, CurrentPartitions: map[string]int32{"a": 0, "b": 0}}}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("UD-12.1, UD-12.2: the status (-want +got):\n%s", diff)
	}
	w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
		podTemplate(&s.Template).Spec.Containers[0].Image = "nginx:1.22"
	})
	plan := w.settle()
	second := plan.Revisions.Update.Name
	if s := plan.Status; s.CurrentRevision != first || s.UpdateStatus.UpdatedRevision != second || s.UpdatedReplicas != 0 || s.ObservedGeneration != 2 {
		t.Errorf("UD-12.3: the status of an update that has begun is %v", s)
	}
	if plan.Revisions.Current.Name != first || len(plan.Revisions.Delete) > 0 {
		t.Errorf("the current revision is %s, and %d are deleted", plan.Revisions.Current.Name, len(plan.Revisions.Delete))
	}
	for i, pod := range w.Pods {
		w.Pods[i] = w.pod(pod.Name, w.set(subsetOf(pod.Labels)).Object, second, i != 3)
	}
	w.Pods = w.Pods[:4]
	if s := NewPlan(&w.Snapshot).Status; s.CurrentRevision != first || s.UpdatedReadyReplicas != 3 {
		t.Errorf("UD-12.3: one pod is not ready, and the status is %v", s)
	}
	w.pod("b1", w.set("b").Object, second, true)
	pods := func(n int32) {
		edited(w, w.set("b").Object.(*v1alpha1.CloneSet), func(o *v1alpha1.CloneSet) { o.Status.Replicas = n })
	}
	pods(3)
	if s := NewPlan(&w.Snapshot).Status; s.CurrentRevision != first || s.Replicas != 5 {
		t.Errorf("UD-12.3: an old pod is left beside the new ones, and the status is %v", s)
	}
	pods(2)
	if s := NewPlan(&w.Snapshot).Status; s.CurrentRevision != second {
		t.Errorf("UD-12.3: all pods are ready, and the status is %v", s)
	}
	w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Selector = nil })
	if s := NewPlan(&w.Snapshot).Status; len(s.Conditions) != 1 || s.Conditions[0].Type != v1alpha1.SubsetFailure || s.Replicas != want.Replicas {
		t.Errorf("UD-12.4: the status of one with a problem is %v", s)
	}
}
