// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
