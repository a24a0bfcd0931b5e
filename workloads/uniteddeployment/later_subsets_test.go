// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

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

// A workload of a subset that neither the topology nor the status has, as an upgrade from OpenKruise 1.7 leaves it, is deleted like
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

// After a scale-out, too, pods that find no nodes are looked at again when they have waited long enough: no event tells that time is
// over. (UD-21.1)
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

// What a template says of maxUnavailable reaches the workloads, also while a subset with reserved pods is scaled in: nothing is
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

// With RevisionLabel, Advanced StatefulSets name their revision where the other kinds do. One that names it in the other label is
// written once, and its pods stay. (UD-7, UD-9)
func TestRevisionLabel(t *testing.T) {
	const former, later = appsv1.ControllerRevisionHashLabelKey, v1alpha1.SubsetRevisionLabel
	template := `template: {advancedStatefulSetTemplate: {spec: {template: {spec: {containers: [{name: main, image: "nginx:1"}]}}}}}`
	for _, tt := range []struct {
		name     string
		features Features
		want     string
	}{{"UD-7: of 1.4", Features{}, former}, {"UD-7: of 1.8 and later", Features{RevisionLabel: true}, later}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, newSet(t, template))
			w.Features = tt.features
			revision := w.settle().Revisions.Update.Name
			for _, o := range w.AdvancedStatefulSets {
				if o.Labels[tt.want] != revision || len(o.Labels[former]) > 0 && len(o.Labels[later]) > 0 {
					t.Errorf("%s: labels %v, want %s in %s", o.Name, o.Labels, revision, tt.want)
				}
			}
			w.Features.RevisionLabel = !w.Features.RevisionLabel
			plan := NewPlan(&w.Snapshot)
			if len(plan.Update) != 2 {
				t.Fatalf("the other label: %v", plan)
			}
			for _, u := range plan.Update {
				before, wanted := u.Child.Object.(*v1beta1.StatefulSet), u.Wanted.(*v1beta1.StatefulSet)
				if diff := cmp.Diff(before.Spec.Template, wanted.Spec.Template); diff != "" || u.Child.Revision != revision {
					t.Errorf("pods of revision %s are to change (-before +after):\n%s", u.Child.Revision, diff)
				}
			}
			w.do(plan)
			if plan := NewPlan(&w.Snapshot); len(plan.Update) > 0 {
				t.Errorf("written already: %v", plan)
			}
		})
	}
}

// What OpenKruise has written stays until the next update, whichever label it has. (UD-9)
func TestRevisionLabelAfterATakeOver(t *testing.T) {
	template := `template: {advancedStatefulSetTemplate: {spec: {template: {spec: {containers: [{name: main, image: "nginx:1"}]}}}}}`
	for _, label := range []string{appsv1.ControllerRevisionHashLabelKey, v1alpha1.SubsetRevisionLabel} {
		for _, features := range []Features{{}, {RevisionLabel: true}} {
			w := newWorld(t, newSet(t, template))
			w.Features = features
			revision := w.settle().Revisions.Update.Name
			for i := range w.AdvancedStatefulSets {
				o := w.AdvancedStatefulSets[i].DeepCopy()
				for _, own := range []string{hashLabel, appsv1.ControllerRevisionHashLabelKey, v1alpha1.SubsetRevisionLabel} {
					delete(o.Labels, own)
				}
				metav1.SetMetaDataLabel(&o.ObjectMeta, label, revision)
				w.AdvancedStatefulSets[i] = o
			}
			if plan := NewPlan(&w.Snapshot); len(plan.Update)+len(plan.Create)+len(plan.Delete) > 0 {
				t.Errorf("%s, %+v: %v", label, features, plan)
			}
		}
	}
}
