// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// adaptive is a topology of subsets, with more in its strategy.
func adaptive(more string, subsets string) string {
	return "topology: {scheduleStrategy: {type: Adaptive, adaptive: {" + more + "}}, subsets: [" + subsets + "]}"
}

// UD-21.2: what is not known in its present state is not scaled in.
func TestAdaptiveStale(t *testing.T) {
	full := func() *zones {
		z := newZones(t, CloneSet, map[string]int{"a": 3, "b": plenty}, "replicas: 10", adaptive("", "{name: a}, {name: b}"))
		z.after(10)
		z.Now = z.Now.Add(40 * time.Second)
		return z
	}
	for _, test := range []struct {
		name  string
		stale func(z *zones)
		want  int32
	}{
		{"all is known", func(*zones) {}, 3},
		{"the workload has not been seen by its controller", func(z *zones) {
			edited(z.world, z.set("a").Object.(*v1alpha1.CloneSet), func(o *v1alpha1.CloneSet) { o.Generation = 9 })
		}, 5},
		{"its pods are others than it says", func(z *zones) {
			edited(z.world, z.set("a").Object.(*v1alpha1.CloneSet), func(o *v1alpha1.CloneSet) { o.Status.Replicas = 4 })
		}, 5},
		{"its pods are at two revisions", func(z *zones) {
			z.replace(z.Pods[0], func(pod *corev1.Pod) { pod.Labels["controller-revision-hash"] = "other" })
		}, 5},
		{"a pod that has ended is none", func(z *zones) {
			z.pod("ended", z.set("a").Object, z.set("a").Revision, false).Status.Phase = corev1.PodFailed
		}, 3},
		{"nor is one of somebody else", func(z *zones) {
			z.pod("other", z.set("b").Object, z.set("a").Revision, false).Labels[v1alpha1.SubsetNameLabel] = "a"
		}, 3},
	} {
		z := full()
		test.stale(z)
		plan := NewPlan(&z.Snapshot)
		if got := plan.Subsets[0].Replicas; got != test.want || got+plan.Subsets[1].Replicas != 10+plan.Status.ReservedPods {
			t.Errorf("%s: %d pods, want %d: %v", test.name, got, test.want, plan)
		}
	}
}

// UD-21.4: times by another clock: a condition in the future counts from now.
func TestAdaptiveClocks(t *testing.T) {
	z := newZones(t, CloneSet, map[string]int{"a": 3, "b": plenty}, "replicas: 10", adaptive("", "{name: a}, {name: b}"))
	z.after(40)
	z.Set = z.Set.DeepCopy()
	z.Set.Status.SubsetStatuses[0].Conditions[0].LastTransitionTime = metav1.NewTime(z.Now.Add(24 * time.Hour))
	plan := NewPlan(&z.Snapshot)
	if plan.RequeueAfter != 300*time.Second || !plan.Status.SubsetStatuses[0].Conditions[0].LastTransitionTime.Time.Equal(z.Now) {
		t.Errorf("again after %v, status %v", plan.RequeueAfter, plan.Status.SubsetStatuses[0])
	}
	z = newZones(t, CloneSet, map[string]int{"a": 3, "b": plenty}, "replicas: 10", adaptive("", "{name: a}, {name: b}"))
	z.after(5)
	for _, pod := range z.Pods {
		z.replace(pod, func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(z.Now.Add(24 * time.Hour)) })
	}
	if plan := NewPlan(&z.Snapshot); plan.RequeueAfter != 30*time.Second {
		t.Errorf("again after %v", plan.RequeueAfter)
	}
}

// UD-12.3, UD-21.5: the status of a subset that is full; an update is done when all pods are
// updated that are not reserved.
func TestAdaptiveStatus(t *testing.T) {
	z := newZones(t, CloneSet, map[string]int{"a": 3, "b": plenty}, "replicas: 10", adaptive("reserveUnschedulablePods: true", "{name: a}, {name: b}"))
	z.after(40)
	z.Set = z.Set.DeepCopy()
	z.Set.Status.SubsetStatuses[1].Conditions = append(z.Set.Status.SubsetStatuses[1].Conditions, v1alpha1.UnitedDeploymentSubsetCondition{Type: "Other", Status: corev1.ConditionTrue})
	z.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = "nginx:2" })
	z.after(60)
	status := &z.Set.Status
	if status.CurrentRevision != status.UpdateStatus.UpdatedRevision || status.UpdatedReadyReplicas != 10 {
		t.Errorf("the update is not done: %+v", status)
	}
	closed := metav1.NewTime(start.Add(30 * time.Second))
	want := []v1alpha1.UnitedDeploymentSubsetStatus{
		{Name: "a", Replicas: 5, ReservedPods: 2, Conditions: []v1alpha1.UnitedDeploymentSubsetCondition{
			{Type: "Schedulable", Status: "False", Reason: "Unschedulable", LastTransitionTime: closed, Message: status.SubsetStatuses[0].Conditions[0].Message}}},
		{Name: "b", Replicas: 7, Conditions: []v1alpha1.UnitedDeploymentSubsetCondition{
			{Type: "Other", Status: "True"}, {Type: "Schedulable", Status: "True", LastTransitionTime: metav1.NewTime(start)}}},
	}
	if diff := cmp.Diff(want, status.SubsetStatuses); diff != "" || status.ReservedPods != 2 {
		t.Errorf("the status, with %d reserved pods (-want +got):\n%s", status.ReservedPods, diff)
	}
	z.Features.AdaptiveScheduling = false
	if plan := NewPlan(&z.Snapshot); !cmp.Equal(plan.Status.SubsetStatuses, status.SubsetStatuses) || len(plan.Reserve)+len(plan.Unreserve) > 0 {
		t.Errorf("UD-21: not read, the status is %v, and the plan %v", plan.Status.SubsetStatuses, plan)
	}
}
