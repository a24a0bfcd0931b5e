// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

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

// With SubsetStatuses the status tells of subsets with the strategy Fixed, too. What was said of a subset goes with it. (UD-21.7)
func TestSubsetStatuses(t *testing.T) {
	stale := []v1alpha1.UnitedDeploymentSubsetStatus{{Name: "gone", Replicas: 7}}
	for _, tt := range []struct {
		name     string
		features Features
		want     []v1alpha1.UnitedDeploymentSubsetStatus
	}{
		{"UD-21.7: without the switch they stay as they are", Features{}, stale},
		{"UD-21: nor are they there with the strategy Fixed", Features{AdaptiveScheduling: true}, nil},
		{"UD-21.7: those of removed subsets go", Features{SubsetStatuses: true},
			[]v1alpha1.UnitedDeploymentSubsetStatus{{Name: "a", Replicas: 3, ReadyReplicas: 2, Partition: 1}, {Name: "b", Replicas: 2}}},
		{"UD-21.7: with the strategy Fixed no condition is there", Features{SubsetStatuses: true, AdaptiveScheduling: true},
			[]v1alpha1.UnitedDeploymentSubsetStatus{{Name: "a", Replicas: 3, ReadyReplicas: 2, Partition: 1}, {Name: "b", Replicas: 2}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, newSet(t, "replicas: 5", "topology: {subsets: [{name: a, replicas: 3}, {name: b}]}", "updateStrategy: {manualUpdate: {partitions: {a: 1}}}"))
			w.Features = tt.features
			w.settle()
			edited(w, w.set("a").Object.(*v1alpha1.CloneSet), func(o *v1alpha1.CloneSet) { o.Status.ReadyReplicas = 2 })
			w.Set = w.Set.DeepCopy()
			w.Set.Status.SubsetStatuses, w.Set.Status.ReservedPods = stale, 0
			if diff := cmp.Diff(tt.want, NewPlan(&w.Snapshot).Status.SubsetStatuses); diff != "" {
				t.Errorf("subsetStatuses (-want +got):\n%s", diff)
			}
		})
	}
}

// With SubsetStatuses the condition of a subset has the reasons of OpenKruise. (UD-21.7)
func TestSchedulableReasons(t *testing.T) {
	z := newZones(t, CloneSet, map[string]int{"a": 3, "b": plenty}, "replicas: 10", adaptive("", "{name: a}, {name: b}"))
	z.Features.SubsetStatuses = true
	look := func(name string, status corev1.ConditionStatus, reason string) {
		t.Helper()
		c := schedulable(&z.Set.Status.SubsetStatuses[0])
		if c == nil || c.Status != status || c.Reason != reason || c.Message == "" != (reason == "") {
			t.Errorf("%s: %+v, want %s %q", name, c, status, reason)
		}
	}
	z.tick(time.Second)
	look("it is new", corev1.ConditionTrue, "")
	z.after(40)
	look("its pods find no nodes", corev1.ConditionFalse, "reschedule")
	z.room["a"] = plenty
	z.after(400)
	look("there is room again", corev1.ConditionTrue, "recover")
	since := schedulable(&z.Set.Status.SubsetStatuses[0]).LastTransitionTime
	z.after(40)
	look("later", corev1.ConditionTrue, "recover")
	if got := schedulable(&z.Set.Status.SubsetStatuses[0]).LastTransitionTime; !got.Equal(&since) {
		t.Errorf("since %v, want %v", got, since)
	}
	z.Features.SubsetStatuses = false
	z.after(40)
	look("without the switch", corev1.ConditionTrue, "")
}

// An upgrade from OpenKruise 1.7 leaves a workload of a subset that neither the topology nor the status has. It is deleted like
// any other, and nothing else suffers. (UD-5, UD-21.7)
func TestSubsetThatNothingNames(t *testing.T) {
	z := newZones(t, CloneSet, map[string]int{"a": plenty, "b": plenty, "c": plenty}, "replicas: 6", adaptive("", "{name: a}, {name: b}, {name: c}"))
	z.Features.SubsetStatuses = true
	z.after(40)
	z.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Topology.Subsets = s.Topology.Subsets[:2] })
	z.Set.Status.SubsetStatuses = nil
	plan := NewPlan(&z.Snapshot)
	if len(plan.Delete) != 1 || plan.Delete[0].Subset != "c" || len(plan.Status.SubsetStatuses) != 2 || plan.Subsets[0].Replicas+plan.Subsets[1].Replicas != 6 {
		t.Errorf("the plan is %v, subsetStatuses %v", plan, plan.Status.SubsetStatuses)
	}
}

// After a scale-out, too, pods that find no nodes are looked at again when they have waited long enough. No event tells that
// their time is over. (UD-21.1)
func TestLookAgainAfterAScaleOut(t *testing.T) {
	z := newZones(t, CloneSet, map[string]int{"a": 3, "b": plenty}, "replicas: 4", adaptive("rescheduleCriticalSeconds: 50", "{name: a}, {name: b}"))
	z.after(100)
	z.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = ptr.To[int32](10) })
	z.tick(time.Second) // the workloads get more replicas, and their controllers create pods
	if plan := NewPlan(&z.Snapshot); plan.RequeueAfter != 49*time.Second || len(plan.Update)+len(plan.Closed) > 0 {
		t.Errorf("again after %v, want 49s: %v", plan.RequeueAfter, plan)
	}
	z.Now = z.Now.Add(49 * time.Second)
	if plan := NewPlan(&z.Snapshot); len(plan.Closed) != 1 {
		t.Errorf("the subset is not closed: %v", plan)
	}
}

// What a template says of maxUnavailable reaches the workloads, also while a subset with reserved pods is scaled in. Nothing is
// computed that could fall below 0. (UD-21.3)
func TestMaxUnavailableBesideReservedPods(t *testing.T) {
	z := newZones(t, CloneSet, map[string]int{"a": 3, "b": plenty}, "replicas: 10", adaptive("reserveUnschedulablePods: true", "{name: a}, {name: b}"))
	z.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
		s.Template.CloneSetTemplate.Spec.UpdateStrategy.MaxUnavailable = ptr.To(intstr.FromInt32(2))
	})
	z.after(40)
	if z.Set.Status.ReservedPods == 0 {
		t.Fatal("no pod is reserved")
	}
	z.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = ptr.To[int32](2) })
	z.plan()
	for _, c := range z.CloneSets {
		if got := c.Spec.UpdateStrategy.MaxUnavailable; got == nil || *got != intstr.FromInt32(2) {
			t.Errorf("%s: maxUnavailable %v, want 2", c.Name, got)
		}
	}
}

// UD-10.2: of several revisions the one that a workload names says what it was given. What an older one gave is not taken from it again.
func TestUpdateKnowsWhatAWorkloadWasGiven(t *testing.T) {
	w := newWorld(t, newSet(t, templateYAML(CloneSet, "minReadySeconds: 5, ")))
	w.settle()
	w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
		s.Template = newSet(t, templateYAML(CloneSet, "")).Spec.Template
	})
	w.settle()
	for _, set := range w.CloneSets {
		edited(w, set, func(o *v1alpha1.CloneSet) { o.Spec.MinReadySeconds = 7 })
	}
	w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
		podTemplate(&s.Template).Spec.NodeSelector = map[string]string{"disk": "ssd"}
	})
	w.settle()
	for _, c := range w.children() {
		if o := c.Object.(*v1alpha1.CloneSet); o.Spec.MinReadySeconds != 7 || o.Spec.Template.Spec.NodeSelector == nil {
			t.Errorf("subset %s has minReadySeconds %d and the node selector %v, want 7, which another client has set, and what the template says",
				c.Subset, o.Spec.MinReadySeconds, o.Spec.Template.Spec.NodeSelector)
		}
	}
}
