// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// A release switches what it does by default. (UD-12.5, UD-20, UD-21, UD-21.6, UD-21.7, UD-7)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{AdaptiveScheduling: true, UpdatedCondition: true, SubsetStatuses: true, RevisionLabel: true, ReservedLabels: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

// updated is the condition UnitedDeploymentUpdated of a status.
func updated(status *v1alpha1.UnitedDeploymentStatus) *v1alpha1.UnitedDeploymentCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == v1alpha1.UnitedDeploymentUpdated {
			return &status.Conditions[i]
		}
	}
	return nil
}

// The condition says which revision pods are updated to, since when, and when that is done. (UD-12.5)
func TestUpdatedCondition(t *testing.T) {
	w := newWorld(t, newSet(t, "replicas: 2"))
	if c := updated(w.settle().Status); c != nil {
		t.Fatalf("without the feature: %+v", c)
	}
	w.Features.UpdatedCondition = true
	w.Now = time.Unix(1000, 0)
	look := func(name string, status corev1.ConditionStatus, since time.Time) {
		t.Helper()
		plan := NewPlan(&w.Snapshot)
		revision, c := plan.Revisions.Update.Name, updated(plan.Status)
		message, reason := "updating to revision "+revision, "UnitedDeploymentRevisionUpdating"
		if status == corev1.ConditionTrue {
			message, reason = "updated to revision "+revision, "UnitedDeploymentRevisionUpdated"
		}
		if c == nil || c.Status != status || c.Reason != reason || c.Message != message || !c.LastTransitionTime.Time.Equal(since) {
			t.Errorf("%s: %+v, want %s %s since %v", name, c, status, message, since)
		}
		w.Set = w.Set.DeepCopy()
		w.Set.Status = *plan.Status
	}
	image := func(image string) {
		w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = image })
		w.Now = w.Now.Add(time.Minute)
	}
	begun := w.Now
	look("settled", corev1.ConditionTrue, begun)
	w.Now = w.Now.Add(time.Minute)
	look("later", corev1.ConditionTrue, begun)
	for _, subset := range []string{"a", "b"} {
		edited(w, w.set(subset).Object.(*v1alpha1.CloneSet), func(o *v1alpha1.CloneSet) { o.Status.Replicas, o.Status.ReadyReplicas = 1, 1 })
	}
	image("nginx:2")
	w.settle()
	look("an update", corev1.ConditionFalse, w.Now)
	image("nginx:3")
	w.settle()
	look("another update before that is done", corev1.ConditionFalse, w.Now)
	begun = w.Now
	w.Now = w.Now.Add(time.Minute)
	look("it goes on", corev1.ConditionFalse, begun)
	for _, subset := range []string{"a", "b"} {
		w.pod(subset+"0", w.set(subset).Object, NewPlan(&w.Snapshot).Revisions.Update.Name, true)
	}
	look("done", corev1.ConditionTrue, w.Now)
}

// With ReservedLabels every pod says whether it is reserved, and the selector of the status selects those that are not. (UD-21.6)
func TestReservedLabels(t *testing.T) {
	for _, tt := range []struct {
		name     string
		features Features
		strategy string
		want     string
		labelled int
	}{
		{"UD-21.3: without the feature", Features{}, "reserveUnschedulablePods: true", "app=demo", 0},
		{"UD-21.6: all pods", Features{ReservedLabels: true}, "reserveUnschedulablePods: true", "app=demo,apps.kruise.io/united-deployment-reserved-pod=false", 2},
		{"UD-21.6: not without reservation", Features{ReservedLabels: true}, "reserveUnschedulablePods: false", "app=demo", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, newSet(t, "replicas: 2", adaptive(tt.strategy, "{name: a}, {name: b}")))
			w.Features, w.Features.AdaptiveScheduling, w.Now = tt.features, true, time.Unix(1000, 0)
			revision := w.settle().Revisions.Update.Name
			for _, subset := range []string{"a", "b"} {
				w.pod(subset+"0", w.set(subset).Object, revision, true)
			}
			plan := NewPlan(&w.Snapshot)
			if plan.Status.LabelSelector != tt.want || plan.Status.Selector != tt.want {
				t.Errorf("labelSelector %q, selector %q, want %q", plan.Status.LabelSelector, plan.Status.Selector, tt.want)
			}
			if len(plan.Unreserve) != tt.labelled || plan.LabelAll != (tt.labelled > 0) || len(plan.Reserve) > 0 {
				t.Errorf("reserve %d, unreserve %d, all %t", len(plan.Reserve), len(plan.Unreserve), plan.LabelAll)
			}
			for _, pod := range w.Pods {
				pod.Labels[v1alpha1.ReservedPodLabel] = "false"
			}
			if plan = NewPlan(&w.Snapshot); len(plan.Unreserve)+len(plan.Reserve) > 0 {
				t.Errorf("labelled already, and it plans %s", plan)
			}
		})
	}
}
