// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// hooked gives the set hooks that the label hold=true holds, and that label to
// the pods with the given indexes.
func hooked(pods ...int) edit {
	return func(s *Snapshot) {
		hook := &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"hold": "true"}}
		s.Set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreDelete: hook, InPlaceUpdate: hook, PreNormal: hook}
		for _, i := range pods {
			s.Pods[i].Labels["hold"] = "true"
		}
	}
}

func markPodNotReady(s *Snapshot) { s.Set.Spec.Lifecycle.PreDelete.MarkPodNotReady = true }

func state(pod int, state lifecyclev1alpha1.StateType) edit {
	return func(s *Snapshot) { s.Pods[pod].Labels[lifecyclev1alpha1.StateLabel] = string(state) }
}

func TestHooks(t *testing.T) {
	ifPossible := inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType)
	runPlanCases(t, []planCase{
		{"STS-4: preDelete holds a Failed pod", "A", "A", "0A!", with(hooked(0)), "Prepare 0", "PreDeleteHook 0"},
		{"LC-E16: nothing takes the name of a Failed pod that is held", "A", "A", "0A!", with(hooked(0), state(0, "PreparingDelete")), "", "PreDeleteHook 0"},
		{"STS-13: preDelete holds a pod that is scaled down", "A", "A", "0A 1A 2A", with(hooked(2), replicas(1)), "delete 1 Scale, Prepare 2", "PreDeleteHook 2"},
		{"STS-13: Parallel passes it over later", "A", "A", "0A 1A 2A^", with(hooked(2), replicas(1)), "delete 1 Scale", "PreDeleteHook 2"},
		{"STS-13: OrderedReady stops", "A", "A", "0A 1A 2A^", with(ordered, hooked(2), replicas(1)), "", "OrderedReady 1, PreDeleteHook 2"},
		{"STS-13: it is deleted when its hook releases it", "A", "A", "0A 1A^", with(ordered, hooked(), replicas(1)), "delete 1 Scale", ""},
		{"STS-11: and also where hooks have taken a lower one out of service as well", "A", "A", "0A 1A-^ 2A-^", with(ordered, hooked(), markPodNotReady, replicas(1)), "delete 2 Scale", "OrderedReady 1"},
		{"STS-11: a hook that has taken a lower one aside, but not out of service, is not waited for", "A", "A", "0A 1A^ 2A-", with(ordered, hooked(1), replicas(1)), "delete 2 Scale", "OrderedReady 1"},
		{"STS-18: preDelete holds a pod that is recreated", "B", "A", "0A 1A", with(hooked(1)), "Prepare 1", "MaxUnavailable 0, PreDeleteHook 1"},
		{"and stays so", "B", "A", "0A 1A^", with(hooked(1)), "", "MaxUnavailable 0, PreDeleteHook 1"},
		{"and is deleted when its hook releases it", "B", "A", "0A 1A^", with(hooked()), "delete 1 Update", "MaxUnavailable 0"},
		{"LC-20: an ordinal that is wanted again takes its pod back", "A", "A", "0A 1A^", with(hooked(1)), "CancelDelete 1", ""},
		{"LC-20: where that is not allowed, the pod goes when its hook releases it", "A", "A", "0A 1A^", with(hooked(1), markPodNotReady), "Prepare 1", "PreDeleteHook 1"},
		{"LC-20: and it goes", "A", "A", "0A 1A^", with(hooked(), markPodNotReady), "delete 1 Scale", ""},
		{"LC-20: an update that is paused takes its pods back", "B", "A", "0A 1A^", with(hooked(1), paused), "CancelDelete 1", "Paused 1 0"},
		{"LC-20: a pod taken back becomes Normal", "A", "A", "0A", with(state(0, "PreparingNormal")), "Refresh 0", ""},
		{"STS-16: the state of a pod is written before the pod is updated", "B", "A", "0A", with(ifPossible, state(0, "PreparingNormal")), "Refresh 0", "RefreshFirst 0"},
		{"LC-18: preNormal is ignored", "A", "A", "0A", with(hooked(), state(0, "PreparingNormal")), "Refresh 0", ""},
		{"LC-19: inPlaceUpdate holds a pod", "B", "A", "0A", with(ifPossible, hooked(0)), "Prepare 0", "InPlaceUpdateHook 0"},
		{"LC-19: also one without a state", "B", "A", "0A*", with(ifPossible, hooked(0)), "Prepare 0", "InPlaceUpdateHook 0"},
		{"LC-19: it is released", "B", "A", "0A", with(ifPossible, hooked(), state(0, "PreparingUpdate")), "UpdateInPlace 0", ""},
		{"LC-25: a pod that its hook has made not ready goes on, also where others would go first", "B", "A", "0A- 1A",
			with(ordered, ifPossible, hooked(), state(0, "PreparingUpdate")), "UpdateInPlace 0", "OrderedReady 1"},
		{"LC-25: and with Parallel", "B", "A", "0A- 1A 2B-",
			with(ifPossible, hooked(), state(0, "PreparingUpdate")), "UpdateInPlace 0", "MaxUnavailable 1"},
		{"LC-19: a prepared pod that is ready still goes on while others use maxUnavailable up", "B", "A", "0A 1A 2A#",
			with(ifPossible, hooked(), state(0, "PreparingUpdate")), "UpdateInPlace 0", "MaxUnavailable 1, NameTaken new"},
		{"LC-19: and where OrderedReady waits for another", "B", "A", "0A- 1A 2A",
			with(ordered, ifPossible, hooked(), state(2, "PreparingUpdate")), "UpdateInPlace 2", "OrderedReady 1 0"},
		{"LC-19: but not together with the creation of one that waits for it", "B", "A", "0A 1B",
			with(ordered, ifPossible, hooked(), replicas(3), state(0, "PreparingUpdate")), "create 2B, otherwise UpdateInPlace 0", "OrderedReady 0"},
		{"STS-18: one that is ready waits for it, wherever it is", "B", "A", "0A 1A 2A",
			with(ordered, hooked(), state(0, "PreparingUpdate")), "delete 0 Update", "MaxUnavailable 2 1"},
		{"STS-18: also in place, and with Parallel", "B", "A", "0A 1A 2A",
			with(ifPossible, hooked(0), state(0, "PreparingUpdate")), "", "InPlaceUpdateHook 0, MaxUnavailable 2 1"},
		{"STS-18: within maxUnavailable it does not", "B", "A", "0A 1A 2A",
			with(unavailable("2"), hooked(), state(0, "PreparingUpdate")), "delete 2 Update, delete 0 Update", "MaxUnavailable 1"},
		{"STS-18: one whose deletion is prepared counts, wherever it is", "C", "A", "0A 1A^ 2B",
			with(ordered, hooked(1)), "", "MaxUnavailable 2 0, PreDeleteHook 1"},
		{"STS-18: below the partition, too", "B", "A", "0A 1A", with(ifPossible, hooked(), partition(1), state(0, "Updated")), "", "MaxUnavailable 1, Partition 0, UpdatedHook 0"},
		{"STS-18: and one that is Updating", "B", "A", "0A 1A", with(ifPossible, hooked(), partition(1), state(0, "Updating")), "Refresh 0", "MaxUnavailable 1, Partition 0"},
		{"STS-18: two that their hooks release go one after the other", "B", "A", "0A^ 1A 2A^", with(hooked()), "delete 2 Update", "MaxUnavailable 1 0"},
		{"STS-18: when no other is down", "B", "A", "0A- 1A 2A^", with(hooked(), partition(1)), "", "MaxUnavailable 2 1, Partition 0"},
		{"STS-18: one that is not ready does not wait", "B", "A", "0A 1A 2A-",
			with(ifPossible, hooked(0), state(0, "PreparingUpdate")), "UpdateInPlace 2", "InPlaceUpdateHook 0, MaxUnavailable 1"},
		{"LC-19: its hook holds it all the same", "B", "A", "0A 1A 2B-",
			with(ifPossible, hooked(0), state(0, "PreparingUpdate")), "", "InPlaceUpdateHook 0, MaxUnavailable 1"},
		{"LC-19: a pod whose update was undone while it was held", "A", "A", "0A", with(ifPossible, hooked(0), state(0, "PreparingUpdate")), "Refresh 0", ""},
		{"LC-10: a pod that the partition holds back goes on", "B", "A", "0A 1A", with(ifPossible, hooked(), partition(1), state(0, "PreparingUpdate")), "Refresh 0", "MaxUnavailable 1, Partition 0"},
		{"LC-10: one that waits for an update that is paused does not", "B", "A", "0A", with(ifPossible, hooked(0), paused, state(0, "PreparingUpdate")), "", "Paused 0"},
		{"LC-10: unorderedUpdate holds back those that are beyond replicas less partition", "B", "A", "0A 1A", with(ifPossible, unordered, hooked(), partition(1),
			state(0, "PreparingUpdate"), state(1, "PreparingUpdate")), "Refresh 0, UpdateInPlace 1", "Partition 0"},
		{"LC-10: and none where all pods belong at one revision", "B", "B", "0A", with(ifPossible, unordered, hooked(), partition(1), state(0, "PreparingUpdate")), "UpdateInPlace 0", ""},
		{"LC-10: OnDelete updates nothing", "B", "A", "0A", with(onDelete, hooked(0), state(0, "PreparingUpdate")), "Refresh 0", "OnDelete 0"},
		{"LC-22: a pod in a state of its own counts as unavailable", "B", "A", "0A 1B", with(hooked(), state(1, "Updated")), "", "MaxUnavailable 0, UpdatedHook 1"},
		{"STS-E12: paused: an update that is complete is written down", "B", "A", "0B", with(paused, state(0, "Updating")), "Refresh 0", ""},
		{"STS-7: and also where OrderedReady waits for a lower ordinal", "A", "A", "0A- 1A", with(ordered, state(1, "Updating")), "Refresh 1", ""},
		{"STS-7: and with OnDelete", "A", "A", "0A", with(onDelete, state(0, "Updating")), "Refresh 0", ""},
	})
}

// Pods that cannot be taken back are deleted and replaced like all others. They go in order, within the budget, and not while the
// update is paused.
func TestKeptPodsThatAreReplaced(t *testing.T) {
	released := func(edits ...edit) []edit { return append([]edit{hooked(), markPodNotReady}, edits...) }
	runPlanCases(t, []planCase{
		{"OrderedReady: one after the other", "A", "A", "0A^ 1A^ 2A", released(ordered), "delete 0 Scale", "OrderedReady 1"},
		{"OrderedReady: a pod that is ready stays while a higher one is not available", "A", "A", "0A^ 1A-", released(ordered), "", "OrderedReady 0"},
		{"OrderedReady: and while one is missing, which is created", "A", "A", "0A^", released(ordered, replicas(2)), "create 1A", "OrderedReady 0"},
		{"OrderedReady: one that is not ready goes", "A", "A", "0A-^ 1A-", released(ordered), "delete 0 Scale", ""},
		{"OrderedReady: but not before a lower one that is not available", "A", "A", "0A- 1A-^", released(ordered), "", "OrderedReady 1"},
		{"OrderedReady: nothing is scaled in beside it", "A", "A", "0A^ 1A 2A", released(ordered, replicas(2)), "delete 0 Scale", "OrderedReady 2"},
		{"OrderedReady: nothing is created beside it", "A", "A", "0A-^", released(ordered, replicas(2)), "delete 0 Scale", "OrderedReady new"},
		{"OrderedReady: pods are taken out of service one after the other", "A", "A", "0A^ 1A^", with(ordered, hooked(0, 1), markPodNotReady), "Prepare 0", "OrderedReady 1, PreDeleteHook 0"},
		{"Parallel: within maxUnavailable", "A", "A", "0A^ 1A^ 2A^", released(unavailable("2")), "delete 0 Scale, delete 1 Scale", "MaxUnavailable 2"},
		{"Parallel: others that are not available count", "A", "A", "0A^ 1A^ 2A-", released(unavailable("2")), "delete 0 Scale", "MaxUnavailable 1"},
		{"Parallel: missing ones too", "A", "A", "0A^ 1A^", released(unavailable("2"), replicas(3)), "delete 0 Scale, create 2A", "MaxUnavailable 1"},
		{"Parallel: those that are not ready are gone already", "A", "A", "0A-^ 1A-^ 2A-", released(), "delete 0 Scale, delete 1 Scale", ""},
		{"Parallel: no more are taken out of service by their hooks", "A", "A", "0A^ 1A^", with(hooked(0, 1), markPodNotReady), "Prepare 0", "MaxUnavailable 1, PreDeleteHook 0"},
		{"OnDelete: one at a time", "A", "A", "0A^ 1A^", released(onDelete), "delete 0 Scale", "MaxUnavailable 1"},
		{"paused: a pod that would be updated stays", "B", "A", "0A^ 1A-^", released(paused), "", "Paused 1 0"},
		{"paused: so does one that is ready", "A", "A", "0A^ 1A^", released(paused), "", "Paused 0 1"},
		{"paused: one that is not ready and comes back as it is goes", "A", "A", "0A-^ 1A^", released(paused), "delete 0 Scale", "Paused 1"},
		{"a pod that the partition holds back comes back as it is", "B", "A", "0A-^ 1B", released(paused, partition(1)), "delete 0 Scale", ""},
	})
}

func TestIdentity(t *testing.T) {
	unnamed := func(s *Snapshot) { delete(s.Pods[0].Labels, "statefulset.kubernetes.io/pod-name") }
	runPlanCases(t, []planCase{
		{"STS-10: the label with the name is put back", "A", "A", "0A 1A", with(unnamed), "Identify 0", ""},
		{"STS-10: also with OrderedReady", "A", "A", "0A 1A", with(unnamed, ordered), "Identify 0", ""},
	})
}

// Every write about a pod is part of the fewest requests: the first condition
// of a new pod is one.
func TestFirstCondition(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A?")
	s.Pods[0].Status.Conditions = nil
	plan := NewPlan(s)
	if got := summary(s, plan); got != "Refresh 0" {
		t.Fatalf("plan %q", got)
	}
	patched, err := plan.Patch[0].Patch.Apply(s.Pods[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range []corev1.PodConditionType{lifecyclev1alpha1.KruisePodReady, inplacev1alpha1.InPlaceUpdateReady} {
		if c := readiness.Condition(patched, condition); c == nil || c.Status != corev1.ConditionTrue {
			t.Errorf("condition %s: %v", condition, c)
		}
	}
	if writes, _ := plan.Patch[0].Patch.Writes(s.Pods[0]); len(writes) != 1 {
		t.Errorf("%d requests, want 1", len(writes))
	}
}

// An in-place update runs as the rules of package inplace say (IP-11 to IP-28), through all of its steps.
func TestInPlaceUpdateOfOnePod(t *testing.T) {
	s := testSnapshot(t, "B", "A", "0A", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType))
	s.Set.Spec.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy = &inplacev1alpha1.InPlaceUpdateStrategy{GracePeriodSeconds: 10}
	apply := func(want string) {
		t.Helper()
		plan := NewPlan(s)
		if got := summary(s, plan); got != want {
			t.Fatalf("plan %q, want %q; %v", got, want, plan.Waiting)
		}
		for _, patch := range plan.Patch {
			pod, err := patch.Patch.Apply(s.Pods[0])
			if err != nil {
				t.Fatal(err)
			}
			s.Pods[0] = pod
		}
	}
	s.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "a", ImageID: "id-a", Ready: true}}
	apply("UpdateInPlace 0")
	if got := lifecycle.StateOf(s.Pods[0]); got != lifecyclev1alpha1.StateUpdating {
		t.Errorf("state %s, want Updating", got)
	}
	if got := s.Pods[0].Spec.Containers[0].Image; got != "a" {
		t.Errorf("the image is %s within the grace period", got)
	}
	if got := s.Pods[0].Labels[podplan.RevisionLabel]; got != testName(s, "B") {
		t.Errorf("revision %s, want that of B: the full name (STS-E22)", got)
	}
	apply("")
	s.Now = s.Now.Add(11 * time.Second)
	apply("Refresh 0")
	if got := s.Pods[0].Spec.Containers[0].Image; got != "b" {
		t.Errorf("the image is %s after the grace period", got)
	}
	s.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "b", ImageID: "id-b", Ready: true, RestartCount: 1}}
	apply("Refresh 0")
	if c := readiness.Condition(s.Pods[0], inplacev1alpha1.InPlaceUpdateReady); c.Status != corev1.ConditionTrue {
		t.Errorf("InPlaceUpdateReady is %s", c.Status)
	}
	if got := lifecycle.StateOf(s.Pods[0]); got != lifecyclev1alpha1.StateNormal {
		t.Errorf("state %s, want Normal", got)
	}
	readiness.Condition(s.Pods[0], corev1.PodReady).Status = corev1.ConditionTrue
	apply("")
}

// Another manager, with an older cache, has put a pod back into service during its grace period. The pod gets its revision back,
// which is kept, and is updated anew. (IP-34)
func TestUpdateOfAPodThatIsPutBackIntoService(t *testing.T) {
	s := testSnapshot(t, "B", "A", "0A", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType))
	s.Set.Spec.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy = &inplacev1alpha1.InPlaceUpdateStrategy{GracePeriodSeconds: 10}
	s.Set.Spec.RevisionHistoryLimit = new(int32)
	step := func(want string) *Plan {
		t.Helper()
		plan := NewPlan(s)
		if got := summary(s, plan); got != want {
			t.Fatalf("plan %q, want %q; %v", got, want, plan.Waiting)
		}
		pod, err := plan.Patch[0].Patch.Apply(s.Pods[0])
		if err != nil {
			t.Fatal(err)
		}
		s.Pods[0] = pod
		return plan
	}
	backAndAgain := func(from, to string) {
		t.Helper()
		step("UpdateInPlace 0")
		s.Set.Status.CurrentRevision = testName(s, to)
		for _, c := range []corev1.PodConditionType{inplacev1alpha1.InPlaceUpdateReady, corev1.PodReady} {
			*readiness.Condition(s.Pods[0], c) = corev1.PodCondition{Type: c, Status: corev1.ConditionTrue}
		}
		s.Now = s.Now.Add(11 * time.Second)
		plan := step("Refresh 0")
		if got := s.Pods[0].Labels[podplan.RevisionLabel]; got != testName(s, from) || s.Pods[0].Spec.Containers[0].Image != strings.ToLower(from) {
			t.Errorf("revision %s, image %s; want those of %s", got, s.Pods[0].Spec.Containers[0].Image, from)
		}
		for _, r := range plan.Revisions.Delete {
			if r.Name == testName(s, from) {
				t.Errorf("deletes revision %s, which the pod goes back to", from)
			}
		}
		step("Refresh 0") // the state of its lifecycle
		step("UpdateInPlace 0")
		if got := s.Pods[0].Spec.Containers[0].Image; got != strings.ToLower(from) || !inplace.InGrace(s.Pods[0]) {
			t.Errorf("image %s, in its grace period: %t", got, inplace.InGrace(s.Pods[0]))
		}
	}
	backAndAgain("A", "B")

	s.Now = s.Now.Add(11 * time.Second)
	step("Refresh 0") // the image, which the kubelet does not start
	s.Set.Spec.Template = testTemplate("C")
	s.Revisions = append(s.Revisions, testRevision(t, s.Set, "C"))
	backAndAgain("B", "C")
}
