// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"slices"
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

// step is what happens, how long then nothing does, and what comes of it.
type step struct {
	do    func(z *zones)
	after int // seconds
	want  string
}

func room(subset string, n int) func(*zones) { return func(z *zones) { z.room[subset] = n } }

func spec(change func(*v1alpha1.UnitedDeploymentSpec)) func(*zones) {
	return func(z *zones) { z.edit(change) }
}

func nothing(*zones) {}

// Stories of subsets whose nodes are full, with each kind of workloads.
func TestAdaptive(t *testing.T) {
	image := spec(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = "nginx:2" })
	replicas := func(n int32) func(*zones) {
		return spec(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = &n })
	}
	for _, test := range []struct {
		name  string
		room  map[string]int
		lines []string
		steps []step
	}{
		{"UD-21.1: the defaults", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("", "{name: a}, {name: b}")}, []step{
			{nothing, 30, "a 3/5, b 5/5"}, {nothing, 5, "a 3/3 closed, b 7/7"}, {room("a", plenty), 290, "a 3/3 closed, b 7/7"}, {nothing, 15, "a 5/5, b 5/5"}}},
		{"UD-21.1: other times, under the earlier name", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("rescheduleCriticalSeconds: 5, unschedulableLastSeconds: 20", "{name: a}, {name: b}")}, []step{
			{nothing, 5, "a 3/5, b 5/5"}, {nothing, 5, "a 3/3 closed, b 7/7"}, {room("a", plenty), 10, "a 3/3 closed, b 7/7"}, {nothing, 10, "a 5/5, b 5/5"}}},
		{"UD-21.1: the later name counts", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("rescheduleCriticalSeconds: 5, unschedulableDuration: 20, unschedulableLastSeconds: 900", "{name: a}, {name: b}")}, []step{
			{nothing, 10, "a 3/3 closed, b 7/7"}, {room("a", plenty), 20, "a 5/5, b 5/5"}}},
		{"UD-21.2: equally where there are no limits", map[string]int{"a": 0, "b": plenty, "c": plenty}, []string{"replicas: 9", adaptive("", "{name: a}, {name: b}, {name: c}")}, []step{
			{nothing, 40, "a 0/0 closed, b 5/5, c 4/4"}}},
		{"UD-21.2: in their order where there are, each up to its maximum", map[string]int{"a": 0, "b": plenty, "c": plenty}, []string{"replicas: 9", adaptive("", "{name: a, maxReplicas: 3}, {name: b, maxReplicas: 4}, {name: c}")}, []step{
			{nothing, 10, "a 0/3, b 4/4, c 2/2"}, {nothing, 30, "a 0/0 closed, b 4/4, c 5/5"}}},
		{"UD-21.2: a subset with replicas comes last", map[string]int{"a": 0, "b": plenty, "c": 5}, []string{"replicas: 9", adaptive("", "{name: a}, {name: b, replicas: 3}, {name: c, replicas: 3}")}, []step{
			{nothing, 40, "a 0/0 closed, b 5/5, c 4/4"}}},
		{"UD-21.2: one without replicas comes before", map[string]int{"a": 0, "b": plenty, "c": plenty}, []string{"replicas: 9", adaptive("", "{name: a}, {name: b, replicas: 3}, {name: c}")}, []step{
			{nothing, 40, "a 0/0 closed, b 3/3, c 6/6"}}},
		{"UD-21.2: all are full", map[string]int{"a": 3, "b": 3}, []string{"replicas: 10", adaptive("", "{name: a}, {name: b}")}, []step{
			{nothing, 40, "a 3/5 closed, b 3/5 closed"}, {nothing, 900, "a 3/5 closed, b 3/5 closed"}}},
		{"UD-21.2: what fits nowhere stays", map[string]int{"a": 1, "b": plenty}, []string{"replicas: 10", adaptive("", "{name: a, minReplicas: 5}, {name: b, maxReplicas: 7}")}, []step{
			{nothing, 40, "a 1/3 closed, b 7/7"}}},
		{"UD-21.2: a substitute finds no node either", map[string]int{"a": 3, "b": 6, "c": plenty}, []string{"replicas: 9", adaptive("", "{name: a, maxReplicas: 5}, {name: b}, {name: c}")}, []step{
			{nothing, 34, "a 3/3 closed, b 6/6, c 0/0"}, {func(z *zones) { z.evict("a", 1) }, 40, "a 1/1 closed, b 6/6 closed, c 2/2"}, {room("b", plenty), 10, "a 1/1 closed, b 6/6 closed, c 2/2"}}},
		{"UD-21.3: reserved until it is ready", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("reserveUnschedulablePods: true, unschedulableDuration: 60", "{name: a}, {name: b}")}, []step{
			{nothing, 40, "a 3/5 reserved 2 closed, b 7/7"}, {func(z *zones) { z.slow["a"], z.room["a"] = true, plenty }, 10, "a 3/5 reserved 2 closed, b 7/7"},
			{func(z *zones) { z.slow["a"] = false }, 5, "a 5/5 closed, b 5/5"}, {nothing, 40, "a 5/5, b 5/5"}}},
		{"UD-21.3: substitutes that are not ready hold nothing up", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("reserveUnschedulablePods: true, unschedulableDuration: 1", "{name: a}, {name: b}")}, []step{
			{nothing, 20, "a 3/5, b 5/5"}, {func(z *zones) { z.slow["b"] = true }, 20, "a 3/5 reserved 2 closed, b 5/7"}, {room("a", plenty), 10, "a 5/5, b 5/5"}}},
		{"UD-21.3: scaled while pods are reserved", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("reserveUnschedulablePods: true", "{name: a}, {name: b}")}, []step{
			{nothing, 40, "a 3/5 reserved 2 closed, b 7/7"}, {replicas(14), 5, "a 3/7 reserved 4 closed, b 11/11"}, {replicas(10), 5, "a 3/5 reserved 2 closed, b 7/7"},
			{replicas(4), 5, "a 2/2 closed, b 2/2"}, {replicas(0), 5, "a 0/0 closed, b 0/0"}}},
		{"UD-21.3: updated while pods are reserved", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("reserveUnschedulablePods: true", "{name: a}, {name: b}")}, []step{
			{nothing, 40, "a 3/5 reserved 2 closed, b 7/7"}, {image, 60, "a 3/5 reserved 2 closed, b 7/7"}}},
		{"UD-21: the strategy Fixed", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", "topology: {scheduleStrategy: {type: Fixed}, subsets: [{name: a}, {name: b}]}"}, []step{{nothing, 60, "a 3/5, b 5/5"}}},
		{"UD-21: it is switched off while pods are reserved", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("reserveUnschedulablePods: true", "{name: a}, {name: b}")}, []step{
			{nothing, 40, "a 3/5 reserved 2 closed, b 7/7"},
			{spec(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Topology.ScheduleStrategy = v1alpha1.UnitedDeploymentScheduleStrategy{}
			}), 5, "a 3/5, b 5/5"}}},
		{"UD-21: not read", map[string]int{"a": 3, "b": plenty}, []string{"replicas: 10", adaptive("", "{name: a}, {name: b}")}, []step{{func(z *zones) { z.Features.AdaptiveScheduling = false }, 60, "a 3/5, b 5/5"}}},
	} {
		for _, kind := range kinds {
			t.Run(test.name+" "+string(kind), func(t *testing.T) {
				z := newZones(t, kind, test.room, test.lines...)
				for i, step := range test.steps {
					step.do(z)
					if got := z.after(step.after); got != step.want {
						t.Fatalf("step %d: %s, want %s", i+1, got, step.want)
					}
				}
			})
		}
	}
}

// UD-21.2: a StatefulSet deletes its highest ordinals alone. If a pod with such an ordinal runs, a pod with a lower one stays,
// and another subset runs a substitute.
func TestAdaptiveOrdinals(t *testing.T) {
	for _, kind := range []TemplateKind{StatefulSet, AdvancedStatefulSet} {
		z := newZones(t, kind, map[string]int{"a": plenty, "b": plenty}, "replicas: 6", adaptive("", "{name: a}, {name: b}"))
		z.after(5)
		c := z.set("a")
		lowest := z.of(&c)[2]
		z.room["a"] = 2
		z.delete(lowest)
		if got, want := z.after(50), "a 2/3 reserved 1 closed, b 4/4"; got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
		z.room["a"] = plenty
		if got, want := z.after(300), "a 3/3, b 3/3"; got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
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

// UD-21.3: a subset that runs pods for another one loses nodes. A workload with ordinals keeps pods that find none below those
// that serve, so others run as many beside these too.
func TestAdaptiveGaps(t *testing.T) {
	for _, kind := range []TemplateKind{StatefulSet, AdvancedStatefulSet, CloneSet} {
		z := newZones(t, kind, map[string]int{"a": 3, "b": plenty, "c": plenty}, "replicas: 12",
			adaptive("reserveUnschedulablePods: true", "{name: a, minReplicas: 8}, {name: b, maxReplicas: 4}, {name: c, replicas: 0}"))
		z.after(200)
		for range 2 { // the first ones
			z.delete(z.Pods[slices.IndexFunc(z.Pods, func(pod *corev1.Pod) bool { return subsetOf(pod.Labels) == "c" })])
		}
		z.room["c"] = 3
		z.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Topology.Subsets[1].MaxReplicas = nil })
		z.after(200)
		if got := z.ready(); got != 12 {
			t.Errorf("%s: %d pods are ready, want 12: %v", kind, got, z)
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
