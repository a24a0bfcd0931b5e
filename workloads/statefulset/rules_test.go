// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// planCase is a state of the world and what is planned in it. See testSnapshot
// for how pods are written, and summary and waits for plans.
type planCase struct {
	name              string
	template, current string
	pods              string
	edits             []edit
	want, waiting     string
}

func runPlanCases(t *testing.T, cases []planCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			s := testSnapshot(t, tt.template, tt.current, tt.pods, tt.edits...)
			plan := NewPlan(s)
			if got := summary(s, plan); got != tt.want {
				t.Errorf("plan %q, want %q\nwaiting: %v\nproblems: %s", got, tt.want, plan.Waiting, problems(plan))
			}
			if got := waits(plan); got != tt.waiting {
				t.Errorf("waiting %q, want %q\n%v", got, tt.waiting, plan.Waiting)
			}
		})
	}
}

func with(edits ...edit) []edit { return edits }

func TestOrdinals(t *testing.T) {
	for _, tt := range []struct {
		name     string
		replicas int32
		start    int32
		reserve  []any
		wanted   []int
		end      int
	}{
		{"STS-1: without reserved ordinals", 3, 0, nil, []int{0, 1, 2}, 3},
		{"STS-1: replicas 3, reserve [1]", 3, 0, []any{1}, []int{0, 2, 3}, 4},
		{"STS-1: replicas 2, reserve [1]", 2, 0, []any{1}, []int{0, 2}, 3},
		{"STS-1: replicas 0", 0, 0, []any{0}, nil, 0},
		{"STS-1: a reserved ordinal beyond the window", 2, 0, []any{7}, []int{0, 1}, 2},
		{"STS-1: the same ordinal reserved twice", 2, 0, []any{0, 0}, []int{1, 2}, 3},
		{"STS-E13: reserve [0], replicas 1", 1, 0, []any{0}, []int{1}, 2},
		{"STS-31: from 4", 2, 4, nil, []int{4, 5}, 6},
		{"STS-31: from 4, without replicas", 0, 4, nil, nil, 4},
		{"STS-31: from 4, reserve [3, 5]", 2, 4, []any{3, 5}, []int{4, 6}, 7},
		{"STS-32: reserve [1-2, 5], replicas 4", 4, 0, []any{"1-2", 5}, []int{0, 3, 4, 6}, 7},
		{"STS-32: ranges overlap, and one is of one ordinal", 3, 0, []any{"1-3", "2-4", 3, "6-6"}, []int{0, 5, 7}, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSnapshot(t, "A", "A", "", replicas(tt.replicas), reserve(tt.reserve...), startAt(tt.start))
			w, err := s.newWindow()
			if err != nil {
				t.Fatal(err)
			}
			if len(w.wanted) != len(tt.wanted) || w.end != tt.end {
				t.Fatalf("wanted %v up to %d, want %v up to %d", w.wanted, w.end, tt.wanted, tt.end)
			}
			for i := range tt.wanted {
				if w.wanted[i] != tt.wanted[i] || !w.contains(tt.wanted[i]) {
					t.Fatalf("wanted %v, want %v", w.wanted, tt.wanted)
				}
			}
		})
	}
}

func TestOrdinalOf(t *testing.T) {
	for _, tt := range []struct {
		pod  string
		want int
		ok   bool
	}{
		{"web-0", 0, true}, {"web-17", 17, true}, {"web-2147483647", 2147483647, true},
		{"web-2147483648", 0, false}, {"web-01", 0, false}, {"web-", 0, false}, {"web", 0, false}, {"web--1", 0, false},
		{"web-+1", 0, false}, {"web-a", 0, false}, {"web-1-2", 0, false}, {"other-1", 0, false}, {"", 0, false},
	} {
		t.Run("STS-2: "+tt.pod, func(t *testing.T) {
			got, ok := ordinalOf("web", tt.pod)
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("got %d, %v, want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestWanted(t *testing.T) {
	misnamed := func(s *Snapshot) { s.Pods[0].Name = "web-x" }
	runPlanCases(t, []planCase{
		{"STS-1: missing ordinals are created, others deleted", "A", "A", "1A 4A", with(replicas(2)), "delete 4 Scale, create 0A", ""},
		{"STS-1: reserving an ordinal deletes its pod and creates the next one", "A", "A", "0A 1A 2A", with(reserve(1)), "delete 1 Scale, create 3A", ""},
		{"STS-2: a pod without an ordinal is ignored", "A", "A", "0A 1A", with(misnamed, replicas(2)), "create 0A", ""},
		{"STS-E13: reserve [0], replicas 1", "A", "A", "0A", with(reserve(0)), "delete 0 Scale, create 1A", ""},
		{"STS-E14: an ordinal no longer reserved comes back, the highest one goes", "A", "A", "0A 2A 3A", nil, "delete 3 Scale, create 1A", ""},
		{"STS-E15: OrderedReady creates the new highest ordinal first", "A", "A", "0A 1A 2A", with(ordered, reserve(1)), "create 3A", "OrderedReady 1"},
		{"STS-E15: and then deletes the reserved one", "A", "A", "0A 1A 2A 3A", with(ordered, reserve(1), replicas(3)), "delete 1 Scale", ""},
	})
}

func TestRevisionOfNewPods(t *testing.T) {
	runPlanCases(t, []planCase{
		{"STS-3: an ordinal below the partition gets the current revision", "B", "A", "0A 3B", with(replicas(4), partition(2)), "create 1A, create 2B", "Partition 0"},
		{"STS-3: without a partition the update revision", "B", "A", "0A", with(replicas(2)), "create 1B", "MaxUnavailable 0"},
		{"STS-3: OnDelete gives the update revision", "B", "A", "0A", with(replicas(2), onDelete), "create 1B", "OnDelete 0"},
		{"STS-3: unordered keeps as many as the partition at the current revision", "B", "A", "0B 1B", with(unordered, replicas(4), partition(1)), "create 2A, create 3B", ""},
		{"STS-3: unordered counts pods that exist at another revision", "B", "A", "0A 1B", with(unordered, replicas(4), partition(1)), "create 2B, create 3B", "Partition 0"},
		{"STS-19: the replacement of a deleted pod has the update revision", "B", "A", "0A 1A", with(replicas(3), unavailable("1"), partition(2)), "create 2B", "Partition 0 1"},
	})
}

func TestPassOverOrdinals(t *testing.T) {
	backOff := func(s *Snapshot) { s.BackOff = map[string]time.Time{"web-1": testTime.Add(time.Second)} }
	later := func(s *Snapshot) { s.Now = s.Now.Add(time.Second) }
	ran := func(s *Snapshot) { s.Pods[1].Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}} }
	runPlanCases(t, []planCase{
		{"STS-4: a Failed pod is deleted", "A", "A", "0A 1A! 2A", nil, "delete 1 Failed", ""},
		{"STS-4, CT-18: with Parallel all go at once", "A", "A", "0A! 1A 2A!", nil, "delete 0 Failed, delete 2 Failed", ""},
		{"STS-4, CT-18: as far as scaleStrategy goes", "A", "A", "0A! 1A 2A!", with(scaleUnavailable("1")), "delete 0 Failed", "ScaleMaxUnavailable 2"},
		{"STS-4, CT-18: with OrderedReady the lowest", "A", "A", "0A! 1A 2A!", with(ordered), "delete 0 Failed", "OrderedReady 2"},
		{"STS-4: and created when it is gone", "A", "A", "0A 2A", with(replicas(3)), "create 1A", ""},
		{"STS-4: one that never ran backs off", "A", "A", "0A 1A! 2A", with(backOff), "", "BackOff 1"},
		{"STS-4: so with OrderedReady, which stops there", "A", "A", "0A 1A!", with(ordered, backOff, replicas(3)), "", "BackOff 1, OrderedReady new"},
		{"STS-4: but not one that ran", "A", "A", "0A 1A! 2A", with(backOff, ran), "delete 1 Failed", ""},
		{"STS-4: nor when the time is over", "A", "A", "0A 1A! 2A", with(backOff, later), "delete 1 Failed", ""},
		{"STS-5: OrderedReady stops after one creation", "A", "A", "0A", with(ordered, replicas(4)), "create 1A", "OrderedReady new"},
		{"STS-5: Parallel creates all", "A", "A", "0A", with(replicas(4)), "create 1A, create 2A, create 3A", ""},
		{"STS-6: OrderedReady stops at a terminating pod", "A", "A", "0A~ 2A", with(ordered, replicas(3)), "", "NameTaken 0, OrderedReady new"},
		{"STS-6: Parallel goes on", "A", "A", "0A~ 2A", with(replicas(3)), "create 1A", "NameTaken 0"},
		{"STS-8: OrderedReady stops at a pod that is not ready", "A", "A", "0A 1A-", with(ordered, replicas(3)), "", "OrderedReady new"},
		{"STS-8: OrderedReady stops at a pod not ready for minReadySeconds", "A", "A", "0A 1A%", with(ordered, replicas(3), minReady(11)), "", "OrderedReady new"},
		{"STS-8: and goes on when it is", "A", "A", "0A 1A%", with(ordered, replicas(3), minReady(10)), "create 2A", ""},
		{"STS-8: hooks are not looked at", "A", "A", "0A^", with(ordered, replicas(2)), "CancelDelete 0, create 1A", ""},
		{"STS-9: scaleStrategy.maxUnavailable creates so many", "A", "A", "", with(replicas(5), scaleUnavailable("2")), "create 0A, create 1A", "ScaleMaxUnavailable new"},
		{"STS-9: nothing more until one is available", "A", "A", "0A? 1A?", with(replicas(5), scaleUnavailable("2")), "", "ScaleMaxUnavailable new"},
		{"STS-9: then one more", "A", "A", "0A- 1A", with(replicas(5), scaleUnavailable("2")), "create 2A", "ScaleMaxUnavailable new"},
		{"STS-9: a terminating pod takes one", "A", "A", "0A~ 1A", with(replicas(5), scaleUnavailable("2")), "create 2A", "NameTaken 0, ScaleMaxUnavailable new"},
		{"STS-9: a percentage is rounded down", "A", "A", "", with(replicas(5), scaleUnavailable("50%")), "create 0A, create 1A", "ScaleMaxUnavailable new"},
		{"STS-9: but to 1 at least", "A", "A", "", with(replicas(5), scaleUnavailable("1%")), "create 0A", "ScaleMaxUnavailable new"},
		{"STS-9: a Failed pod does not wait for itself", "A", "A", "0A 1A! 2A", with(scaleUnavailable("1")), "delete 1 Failed", ""},
		{"STS-9: a Failed pod beyond it waits as well", "A", "A", "0A- 1A! 3A!", with(replicas(4), scaleUnavailable("1")), "", "ScaleMaxUnavailable 1 3 new"},
		{"STS-8: and one beyond the place at which OrderedReady stops", "A", "A", "0A- 1A!", with(ordered, replicas(2)), "", "OrderedReady 1"},
		{"STS-6: a terminating pod of a former set has the name", "A", "A", "0A 1A#~", nil, "", "NameTaken 1"},
		{"STS-6: and one without a controller", "A", "A", "0A 1A@~", nil, "", "NameTaken 1"},
		{"STS-9: scale-down and update go on", "B", "A", "0A- 3A 7A", with(replicas(4), scaleUnavailable("1"), unavailable("2")), "delete 7 Scale, otherwise delete 0 Update", "ScaleFirst 3 0, ScaleMaxUnavailable new"},
		{"STS-9: the update goes on", "B", "A", "0A- 3A", with(replicas(4), scaleUnavailable("1"), unavailable("4")), "delete 3 Update, delete 0 Update", "ScaleMaxUnavailable new"},
	})
}

func TestScaleDown(t *testing.T) {
	runPlanCases(t, []planCase{
		{"STS-11: OrderedReady deletes the highest ordinal", "A", "A", "0A 1A 2A 3A", with(ordered, replicas(2)), "delete 3 Scale", "OrderedReady 2"},
		{"STS-11: OrderedReady waits for a terminating one", "A", "A", "0A 1A 2A 3A~", with(ordered, replicas(2)), "", "OrderedReady 2"},
		{"STS-11: OrderedReady waits for a lower one that somebody else deletes", "A", "A", "0A 1A 2A~ 3A", with(ordered, replicas(2)), "", "OrderedReady 3"},
		{"STS-11: a pod that is not available waits, as a lower one is not either", "A", "A", "0A 1A- 2A-", with(ordered, replicas(1)), "", "OrderedReady 2 1"},
		{"STS-11: so with replicas 0", "A", "A", "0A- 1A- 2A-", with(ordered, replicas(0)), "", "OrderedReady 2 1 0"},
		{"STS-11: and while it is not ready for minReadySeconds", "A", "A", "0A 1A% 2A%", with(ordered, minReady(60), replicas(1)), "", "OrderedReady 2 1"},
		{"STS-11: but one that is not ready goes before one that is, for however short a time", "A", "A", "0A 1A% 2A-", with(ordered, minReady(60), replicas(1)), "delete 2 Scale", "OrderedReady 1"},
		{"STS-11: the only one that is not available goes", "A", "A", "0A 1A 2A-", with(ordered, replicas(1)), "delete 2 Scale", "OrderedReady 1"},
		{"STS-11: one that is available goes, although a lower one is not", "A", "A", "0A 1A- 2A", with(ordered, replicas(1)), "delete 2 Scale", "OrderedReady 1"},
		{"STS-11: a Failed one waits as well", "A", "A", "0A 1A- 2A!", with(ordered, replicas(1)), "", "OrderedReady 2 1"},
		{"STS-11: but not for another Failed one", "A", "A", "0A 1A! 2A!", with(ordered, replicas(1)), "delete 2 Scale", "OrderedReady 1"},
		{"STS-11: one that may become available waits for a Failed one", "A", "A", "0A 1A! 2A-", with(ordered, replicas(1)), "", "OrderedReady 2 1"},
		{"STS-11: a reserved one that is not available", "A", "A", "0A 1A- 2A 3A", with(ordered, reserve(1), replicas(3)), "delete 1 Scale", ""},
		{"STS-12: Parallel waits for none of them", "A", "A", "0A 1A- 2A-", with(replicas(1)), "delete 2 Scale, delete 1 Scale", ""},
		{"STS-11: a wanted pod that is not available blocks", "A", "A", "0A- 1A 2A", with(ordered, replicas(1)), "", "OrderedReady 2 1"},
		{"STS-12: Parallel passes over terminating ones", "A", "A", "0A 1A 2A~", with(replicas(1)), "delete 1 Scale", ""},
		{"STS-12: scale-down precedes the update", "B", "A", "0A 1A", with(replicas(1)), "delete 1 Scale, otherwise delete 0 Update", "ScaleFirst 0"},
		{"STS-12: also with OrderedReady", "B", "A", "0A 1A 2A", with(ordered, replicas(1)), "delete 2 Scale, otherwise delete 0 Update", "OrderedReady 1, ScaleFirst 0"},
		{"STS-12: paused goes before", "B", "A", "0A 1A", with(paused, replicas(1)), "delete 1 Scale", "Paused 0"},
		{"STS-12: in place", "B", "A", "0A 1A", with(inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType), replicas(1)), "delete 1 Scale, otherwise UpdateInPlace 0", "ScaleFirst 0"},

		{"STS-E25: Parallel scales 5 to 0 without waiting", "A", "A", "0A 1A 2A 3A 4A", with(replicas(0)), "delete 4 Scale, delete 3 Scale, delete 2 Scale, delete 1 Scale, delete 0 Scale", ""},
	})
}

func TestRollingUpdate(t *testing.T) {
	priority := func(s *Snapshot) {
		unordered(s)
		s.Pods[1].Labels["first"] = "yes"
		s.Set.Spec.UpdateStrategy.RollingUpdate.UnorderedUpdate.PriorityStrategy = weightFirst()
	}
	updating := func(s *Snapshot) { s.Pods[2].Labels["lifecycle.apps.kruise.io/state"] = "Updated" }
	runPlanCases(t, []planCase{
		{"STS-15: 30% of 5 is 1", "B", "A", "0A 1A 2A 3A 4A", with(unavailable("30%")), "delete 4 Update", "MaxUnavailable 3 2 1 0"},
		{"STS-15: 50% of 5 is 2", "B", "A", "0A 1A 2A 3A 4A", with(unavailable("50%")), "delete 4 Update, delete 3 Update", "MaxUnavailable 2 1 0"},
		{"STS-17: from the highest down to the partition", "B", "A", "0A 1A 2A 3A", with(unavailable("4"), partition(2)), "delete 3 Update, delete 2 Update", "Partition 0 1"},
		{"STS-17: the partition is an ordinal, also with reserved ones", "B", "A", "0A 2A 4A", with(unavailable("4"), reserve(1, 3), partition(2)), "delete 4 Update, delete 2 Update", "Partition 0"},
		{"STS-17: unordered, replicas 10, partition 6, 6 and 7 updated", "B", "A", "0A 1A 2A 3A 4A 5A 6B 7B 8A 9A", with(unordered, partition(6), unavailable("10")), "delete 9 Update, delete 8 Update", "Partition 5 4 3 2 1 0"},
		{"STS-17: unordered by priority", "B", "A", "0A 1A 2A", with(priority, partition(2), unavailable("3")), "delete 1 Update", "Partition 2 0"},
		{"STS-18: maxUnavailable 2, all healthy", "B", "A", "0A 1A 2A 3A 4A", with(unavailable("2")), "delete 4 Update, delete 3 Update", "MaxUnavailable 2 1 0"},
		{"STS-18: the next one when either is available", "B", "A", "0A 1A 2A 3B 4B-", with(unavailable("2")), "delete 2 Update", "MaxUnavailable 1 0"},
		{"STS-18: a terminating pod counts", "B", "A", "0A 1A 2A~", nil, "", "MaxUnavailable 1 0, NameTaken 2"},
		{"STS-18: a pod not ready for minReadySeconds counts", "B", "A", "0A 1A 2B%", with(minReady(60)), "", "MaxUnavailable 1 0"},
		{"STS-18: a pod in a lifecycle state of its own counts", "B", "A", "0A 1A 2B", with(updating), "Refresh 2", "MaxUnavailable 1 0"},
		{"STS-18: a missing pod counts", "B", "A", "0A 1A", with(replicas(3)), "create 2B", "MaxUnavailable 1 0"},
		{"STS-18: pods that the update does not reach count", "B", "A", "0A- 1A- 2A", with(partition(2)), "", "MaxUnavailable 2, Partition 0 1"},
		{"STS-18: within maxUnavailable", "B", "A", "0A- 1A- 2A", with(partition(2), unavailable("3")), "delete 2 Update", "Partition 0 1"},
		{"STS-18: an edit in mid-update", "C", "A", "0A 1A~ 2B", nil, "", "MaxUnavailable 2 0, NameTaken 1"},
		{"STS-18: a pod that is down does not wait for itself", "C", "A", "0A 1B- 2B", nil, "delete 1 Update", "MaxUnavailable 2 0"},
		{"STS-18: nor does one that is ready for too short", "C", "A", "0A 1B% 2B", with(minReady(60)), "delete 1 Update", "MaxUnavailable 2 0"},
		{"STS-18: unordered, a pod that stays counts", "B", "A", "0A- 1A 2A", with(unordered, partition(1)), "", "MaxUnavailable 2 1, Partition 0"},
		{"STS-18: an unhealthy pod of the old revision is replaced when reached", "B", "A", "0A 1A- 2B", nil, "delete 1 Update", "MaxUnavailable 0"},
		{"STS-22: OnDelete updates nothing", "B", "A", "0A 1A", with(onDelete), "", "OnDelete 0 1"},
		{"STS-E6: partition 3 of 5, unordered: 2 pods are updated", "B", "A", "0A 1A 2A 3A 4A", with(unordered, partition(3), unavailable("5")), "delete 4 Update, delete 3 Update", "Partition 2 1 0"},
		{"STS-E7: partition of all, unordered: none", "B", "A", "0A 1A", with(unordered, partition(2), unavailable("5")), "", "Partition 1 0"},
		{"STS-E8: unordered, a terminating pod takes a slot", "B", "A", "0A 1A~ 2A 3A", with(unordered, partition(2), unavailable("5")), "delete 3 Update", "NameTaken 1, Partition 2 0"},
		{"STS-E9: Parallel replaces a broken highest pod first", "C", "A", "0A 1A 2B-", nil, "delete 2 Update", "MaxUnavailable 1 0"},
		{"STS-E10: pod 0 is broken: it goes first", "B", "A", "0A- 1A 2A 3A 4A", nil, "delete 0 Update", "MaxUnavailable 4 3 2 1"},
		{"STS-E11: OrderedReady with a pod that is not available: no update", "B", "A", "0A- 1A 2A", with(ordered), "", "OrderedReady 2 1 0"},
		{"STS-E12: paused: creation and scale-down go on, the update does not", "B", "A", "0A 5A", with(paused, replicas(2)), "delete 5 Scale, create 1B", "Paused 0"},
	})
}

func TestBrokenUpdate(t *testing.T) {
	underWay := func(s *Snapshot) { // of a pod without the readiness gate, which stays ready
		s.Pods[2].Spec.ReadinessGates = nil
		s.Pods[2].Annotations = map[string]string{inplacev1alpha1.StateAnnotation: `{"revision":"x","lastContainerStatuses":{"main":{"imageID":"a"}}}`}
	}
	spoilt := func(s *Snapshot) {
		underWay(s)
		s.Pods[2].Annotations[inplacev1alpha1.StateAnnotation] = "{"
	}
	runPlanCases(t, []planCase{
		{"Parallel: an updated pod with a record that cannot be read holds nobody up", "B", "A", "0A 1A 2B", with(spoilt), "delete 1 Update", "MaxUnavailable 0"},
		{"OrderedReady: a pod of an abandoned revision is replaced", "A", "A", "0A 1A 2B-", with(ordered), "delete 2 Update", ""},
		{"OrderedReady: also where pods of that revision serve above it", "A", "A", "0A 1B- 2B", with(ordered), "delete 1 Update", "OrderedReady 2"},
		{"OrderedReady: the lowest one first, since it stops the creation of others", "C", "A", "0A 1B- 2B-", with(ordered), "delete 1 Update", "OrderedReady 2 0"},
		{"OrderedReady: one after the other", "C", "A", "0A 1B- 2C~", with(ordered), "", "OrderedReady 1 0"},
		{"OrderedReady: a roll-back of a finished update replaces what broke later", "A", "B", "0B 1B- 2B", with(ordered), "delete 1 Update", "OrderedReady 2 0"},
		{"OrderedReady: a pod that was broken before the update waits for its turn", "B", "A", "0A- 1A 2A", with(ordered), "", "OrderedReady 2 1 0"},
		{"OrderedReady: it is its turn", "B", "A", "0A- 1B 2B", with(ordered), "delete 0 Update", ""},
		{"OrderedReady: not before an updated pod is available", "B", "A", "0A 1A- 2B-", with(ordered), "", "OrderedReady 1 0"},
		{"OrderedReady: a broken first pod of a new set takes the corrected template", "B", "A", "0A-", with(ordered, replicas(3)), "delete 0 Update", "OrderedReady new"},
		{"OrderedReady: a pod below the partition stays", "C", "A", "0A 1B- 2B-", with(ordered, partition(2)), "delete 2 Update", "Partition 0 1"},
		{"Parallel: also where scaleStrategy lets no other pod be created", "B", "A", "0A-", with(replicas(5), scaleUnavailable("1")), "delete 0 Update", "ScaleMaxUnavailable new"},
		{"Parallel: where a missing pod uses the budget up, a pod of an abandoned revision goes", "C", "A", "0A 1B- 2B", with(replicas(4), scaleUnavailable("1")), "delete 1 Update", "MaxUnavailable 2 0, ScaleMaxUnavailable new"},
		{"Parallel: and pods that serve stay", "B", "A", "0A- 1A 2A", with(replicas(4), scaleUnavailable("1")), "delete 0 Update", "MaxUnavailable 2 1, ScaleMaxUnavailable new"},
		{"Parallel, unordered: a roll-back updates all pods, whatever the partition", "A", "A", "0A 1A 2B 3A 4B-", with(unordered, partition(3), unavailable("2")), "delete 4 Update, delete 2 Update", ""},
		{"OrderedReady: where no pod is available at its revision, nobody knows it to work", "C", "A", "0A- 1A- 2B", with(ordered), "delete 0 Update", "OrderedReady 2 1"},
		{"OrderedReady: a ready pod stays, though it is not available yet", "A", "A", "0A 1B%", with(ordered, minReady(60)), "", "OrderedReady 1"},
		{"Parallel: an outage of pods that work lets no bad image out", "B", "A", "0A- 1A- 2A- 3B-", nil, "", "MaxUnavailable 2 1 0"},
		{"nor where the pod that has it is adopted just now", "B", "A", "0A- 1A- 2A- 3B-@", nil, "Adopt 3", "MaxUnavailable 2 1 0"},
		{"Parallel: nor with unorderedUpdate", "B", "A", "0A- 1A- 2A- 3B-", with(unordered), "", "MaxUnavailable 2 1 0"},
		{"Parallel: nor where the pod of the bad image has ended", "B", "A", "0A- 1A- 2A- 3B!", with(unordered, scaleUnavailable("1")), "", "MaxUnavailable 2 1 0, ScaleMaxUnavailable 3"},
		{"OrderedReady: nor does it with order", "B", "A", "0A- 1A- 2A- 3B-", with(ordered), "", "OrderedReady 2 1 0"},
		{"OrderedReady: nor a pod whose turn it is", "B", "A", "0B- 1A- 2B-", with(ordered), "", "OrderedReady 1"},
		{"Parallel: pods that are created show first whether the update works", "B", "A", "0A- 1A- 2A-", with(replicas(4)), "create 3B, otherwise delete 0 Update", "MaxUnavailable 2 1 0"},
		{"Parallel: a pod whose update in place is under way proves nothing", "B", "A", "0A- 1A- 2B 3B-", with(underWay), "", "InPlaceUpdating 2, MaxUnavailable 1 0"},
		{"Parallel: a revision that works somewhere is let out", "B", "A", "0A- 1A- 2B- 3B", nil, "delete 0 Update", "MaxUnavailable 1"},
		{"Parallel: a correction goes on with the pod of the bad image", "C", "A", "0A- 1A- 2A- 3B-", nil, "delete 3 Update", "MaxUnavailable 2 1 0"},
		{"OrderedReady: and with order", "C", "A", "0A- 1A- 2A- 3B-", with(ordered), "delete 3 Update", "OrderedReady 2 1 0"},
		{"OrderedReady: a roll-back takes it back", "A", "A", "0A- 1A- 2A- 3B-", with(ordered), "delete 3 Update", ""},
		{"OrderedReady: a roll-back of a finished update goes on, although the first pod does not work yet", "A", "B", "0B- 1B- 2A-", with(ordered), "delete 0 Update", "OrderedReady 1"},
		{"OrderedReady: pods that are left over prove nothing", "B", "A", "0A- 7B-", with(ordered, replicas(1)), "delete 0 Update", "OrderedReady 7"},
		{"OrderedReady: in place where possible", "A", "A", "0A 1B-", with(ordered, inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType)), "UpdateInPlace 1", ""},
	})
}

func TestInPlaceUpdate(t *testing.T) {
	ifPossible, only := inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType), inPlace(v1beta1.InPlaceOnlyPodUpdateStrategyType)
	moreEnv := func(s *Snapshot) {
		s.Set.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "x", Value: "y"}}
	}
	runPlanCases(t, []planCase{
		{"STS-18: in place where the change allows it", "B", "A", "0A 1A", with(ifPossible), "UpdateInPlace 1", "MaxUnavailable 0"},
		{"STS-18: otherwise recreated", "B", "A", "0A 1A", with(ifPossible, moreEnv), "delete 1 Update", "MaxUnavailable 0"},
		{"STS-20: a prepared pod that cannot go in place any more goes back", "B", "A", "0A",
			with(only, moreEnv, hooked(), state(0, "PreparingUpdate")), "Refresh 0", "RefreshFirst 0"},
		{"STS-20: InPlaceOnly and not possible", "B", "A", "0A 1A", with(only, moreEnv), "", "InPlaceOnly 1 0"},
		{"STS-21: a pod that was being deleted is kept first", "B", "A", "0A^ 1B", with(ifPossible), "CancelDelete 0", "RefreshFirst 0"},
		{"STS-E24: the pod stays", "B", "A", "0A", with(ifPossible), "UpdateInPlace 0", ""},
		{"LC-19: a pod without a state gets none", "B", "A", "0A*", with(ifPossible), "UpdateInPlace 0", ""},
	})
}

// A pod whose update cannot begin takes no place from another.
func TestUpdateThatCannotBegin(t *testing.T) {
	ifPossible, only := inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType), inPlace(v1beta1.InPlaceOnlyPodUpdateStrategyType)
	annotate := func(pod int, key, value string) edit {
		return func(s *Snapshot) {
			s.Pods[pod].Annotations = map[string]string{"apps.kruise.io/inplace-update-" + key: value}
		}
	}
	record := func(pod int) edit { return annotate(pod, "state", "{") }
	renamed := func(s *Snapshot) { s.Pods[2].Spec.Containers[0].Name = "other" }
	grace := func(s *Snapshot) {
		s.Pods[2].Annotations = map[string]string{"apps.kruise.io/inplace-update-state": "{", "apps.kruise.io/inplace-update-grace": "{"}
	}
	runPlanCases(t, []planCase{
		{"InPlaceIfPossible recreates one whose record cannot be read", "B", "A", "0A 1A 2A", with(ifPossible, record(2)), "delete 2 Update", "MaxUnavailable 1 0"},
		{"and one that lacks a container", "B", "A", "0A 1A 2A", with(ifPossible, renamed), "delete 2 Update", "MaxUnavailable 1 0"},
		{"and one in a grace period that cannot end", "C", "A", "0A 1A 2B-", with(ifPossible, grace), "delete 2 Update", "MaxUnavailable 1 0"},
		{"and one in a state that nobody knows", "B", "A", "0A 1A 2A", with(ifPossible, state(2, "x")), "delete 2 Update", "MaxUnavailable 1 0"},
		{"ReCreate does not wait for a grace period that cannot end", "C", "A", "0A 1A 2B-", with(grace), "delete 2 Update", "MaxUnavailable 1 0"},
		{"InPlaceOnly passes over one whose record cannot be read", "B", "A", "0A 1A 2A", with(only, record(2)), "UpdateInPlace 1", "InPlaceOnly 2, MaxUnavailable 0"},
		{"and one that lacks a container", "B", "A", "0A 1A 2A", with(only, renamed), "UpdateInPlace 1", "InPlaceOnly 2, MaxUnavailable 0"},
		{"and one in a state that nobody knows", "B", "A", "0A 1A 2A", with(only, state(2, "x")), "UpdateInPlace 1", "InPlaceOnly 2, MaxUnavailable 0"},
		{"but counts it where it is not available", "B", "A", "0A 1A 2A-", with(only, record(2)), "", "InPlaceOnly 2, MaxUnavailable 1 0"},
		{"unorderedUpdate takes another one for it", "B", "A", "0A 1A 2A", with(only, unordered, partition(2), record(2)), "UpdateInPlace 1", "Partition 0 2"},
		{"OrderedReady repairs another one", "C", "A", "0A 1B- 2B-", with(only, ordered, record(1)), "UpdateInPlace 2", "OrderedReady 1 0"},
		{"OrderedReady: it is the turn of the one below", "B", "A", "0A- 1A 2A", with(only, ordered, record(1), record(2)), "UpdateInPlace 0", "OrderedReady 2 1"},
	})
}

func TestInPlaceUpdateAddsGate(t *testing.T) {
	t.Run("STS-E4: a new readiness gate recreates the pods once", func(t *testing.T) {
		s := testSnapshot(t, "A", "A", "0A", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType))
		s.Set.Spec.Template.Spec.ReadinessGates = append(s.Set.Spec.Template.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: "more"})
		if got := summary(s, NewPlan(s)); got != "delete 0 Update" {
			t.Errorf("plan %q", got)
		}
	})
}

func TestOwnership(t *testing.T) {
	relabelled := func(s *Snapshot) { s.Pods[0].Labels["app"] = "else" }
	deleted := func(s *Snapshot) { s.Set.DeletionTimestamp = &metav1.Time{Time: testTime} }
	runPlanCases(t, []planCase{
		{"upstream: a pod without a controller is adopted", "A", "A", "0A@ 1A", nil, "Adopt 0", ""},
		{"upstream: OrderedReady waits for it", "A", "A", "0A@", with(ordered, replicas(2)), "Adopt 0", "OrderedReady new"},
		{"upstream: a pod that the selector does not match is released", "A", "A", "0A 1A", with(relabelled), "Release 0", "NameTaken new"},
		{"upstream: a pod of another owner is left alone", "A", "A", "0A# 1A", nil, "", "NameTaken new"},
		{"STS-26: a set that is being deleted writes its status only", "B", "A", "0A@ 1A 2A! 9A", with(deleted, relabelled), "", ""},
	})
}

func TestSpecProblems(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit edit
		want string
	}{
		{"replicas", replicas(-1), "FailedUpdatePod: spec.replicas: found -1, want 0 or more"},
		{"too many replicas", replicas(2_000_000_000), "FailedUpdatePod: spec.replicas: found 2000000000, want 1000000 or less"},
		{"partition", partition(-1), "FailedUpdatePod: spec.updateStrategy.rollingUpdate.partition: found -1, want 0 or more"},
		{"maxUnavailable", rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) {
			r.MaxUnavailable = &intstr.IntOrString{Type: intstr.String, StrVal: "x"}
		}),
			`FailedUpdatePod: spec.updateStrategy.rollingUpdate.maxUnavailable: found "x", want a number such as 3 or a whole percentage such as "30%"`},
		{"selector", func(s *Snapshot) { s.Set.Spec.Selector = nil }, "FailedUpdatePod: spec.selector: is missing; it must select the labels of the template"},
		{"empty selector", func(s *Snapshot) { s.Set.Spec.Selector = &metav1.LabelSelector{} }, "FailedUpdatePod: spec.selector: is empty; it must select the labels of the template"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSnapshot(t, "A", "A", "0A", tt.edit)
			plan := NewPlan(s)
			if got := problems(plan); got != tt.want {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
			if got := summary(s, plan); got != "" || plan.Status == nil {
				t.Errorf("plan %q, status %v; want nothing but a status", got, plan.Status)
			}
		})
	}
}

// A deletion that is due because a pod is not ready is for the pod as it was
// observed: it may be ready by now.
func TestDeletionsOfPodsThatAreNotReady(t *testing.T) {
	for _, tt := range []struct {
		name, template, pods string
		edits                []edit
		unchanged            bool
	}{
		{"a broken update that is taken back", "A", "0A 1A 2B-", with(ordered), true},
		{"a pod that is left over and not ready, in order", "A", "0A 1A-", with(ordered, replicas(1)), true},
		{"a pod that is left over", "A", "0A 1A", with(ordered, replicas(1)), false},
		{"a pod that is left over, whatever becomes of it", "A", "0A 1A-", with(replicas(1)), false},
		{"a pod that cannot be taken back and is out of service", "A", "0A 1A-^", with(hooked(), markPodNotReady), true},
		{"a pod whose turn it is", "B", "0A 1A-", nil, false},
		{"a pod that has ended", "A", "0A 1A!", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := NewPlan(testSnapshot(t, tt.template, "A", tt.pods, tt.edits...))
			if len(plan.Delete) != 1 || plan.Delete[0].Unchanged != tt.unchanged {
				t.Errorf("deletes %+v, want one with Unchanged %v", plan.Delete, tt.unchanged)
			}
		})
	}
}
