// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func counting(s *Snapshot) { s.Features.PartitionCountsPods = true }

// STS-31 to STS-33: ordinals and the partition of OpenKruise 1.7 and 1.8.
func TestLaterOrdinals(t *testing.T) {
	off := func(s *Snapshot) { s.Features.StartOrdinal = false }
	runPlanCases(t, []planCase{
		{"STS-31: without the feature the start is ignored", "A", "A", "0A 1A", with(startAt(4), off), "", ""},
		{"STS-31: pods below the start go, when those from it up are there", "A", "A", "2A 3A", with(startAt(4)), "delete 3 Scale, delete 2 Scale, create 4A, create 5A", ""},
		{"STS-31: OrderedReady creates first", "A", "A", "2A 3A", with(ordered, startAt(4)), "create 4A", "OrderedReady new 3 2"},
		{"STS-31: and then deletes the highest", "A", "A", "2A 3A 4A 5A", with(ordered, startAt(4), replicas(2)), "delete 3 Scale", "OrderedReady 2"},
		{"STS-31: one lower", "A", "A", "2A 3A", with(startAt(1)), "delete 3 Scale, create 1A", ""},
		{"STS-31: the partition is an ordinal from 0", "B", "A", "2A 3A 4A", with(startAt(2), unavailable("3"), partition(3)), "delete 4 Update, delete 3 Update", "Partition 2"},
		{"STS-32: a range is reserved", "A", "A", "0A 1A 2A 3A", with(reserve("1-2")), "delete 2 Scale, delete 1 Scale, create 4A, create 5A", ""},
		{"STS-33: the partition counts pods, reserved ordinals do not", "B", "A", "0A 2A 3A 4A", with(counting, reserve(1), unavailable("4"), partition(2)), "delete 4 Update, delete 3 Update", "Partition 0 2"},
		{"STS-33: without the feature it is an ordinal", "B", "A", "0A 2A 3A 4A", with(reserve(1), unavailable("4"), partition(2)), "delete 4 Update, delete 3 Update, delete 2 Update", "Partition 0"},
		{"STS-33: it counts from the start", "B", "A", "5A 6A 7A", with(counting, startAt(5), unavailable("3"), partition(1)), "delete 7 Update, delete 6 Update", "Partition 5"},
		{"STS-33: a new pod is of the current revision", "B", "A", "0A 3B 4B", with(counting, reserve(1), replicas(4), partition(2)), "create 2A", "Partition 0"},
		{"STS-33: or of the update revision behind it", "B", "A", "0A 2A 4B", with(counting, reserve(1), replicas(4), partition(2)), "create 3B", "Partition 0 2"},
		{"STS-33: unordered it counted before", "B", "A", "0A 2A 3A", with(counting, unordered, reserve(1), unavailable("3"), partition(2)), "delete 3 Update", "Partition 2 0"},
	})
}

// STS-32: nothing is done while it cannot be told which ordinals are reserved.
func TestUnreadableOrdinals(t *testing.T) {
	for want, s := range map[string]*Snapshot{
		`FailedUpdatePod: spec.reserveOrdinals[1]: found "5", want a number, or a range of numbers such as "5-7"`:                              testSnapshot(t, "B", "A", "0A 2A", reserve(1, "5")),
		`FailedUpdatePod: spec.ordinals.start: found -1, want 0 or more`:                                                                       testSnapshot(t, "B", "A", "0A 2A", startAt(-1)),
		`FailedUpdatePod: spec: of 2 replicas, 1 have an ordinal: want a lower spec.ordinals.start, or fewer ordinals in spec.reserveOrdinals`: testSnapshot(t, "B", "A", "0A 2A", reserve("1-9223372036854775807")),
	} {
		plan := NewPlan(s)
		if got := problems(plan); got != want {
			t.Errorf("problems %s, want %s", got, want)
		}
		if got := summary(s, plan); got != "" {
			t.Errorf("%s: %s", want, got)
		}
	}
}

func later19(s *Snapshot) { s.Features = FeaturesOf(podwright.Release19) }

// marked has users mark pods for deletion.
func marked(pods ...int) edit {
	return func(s *Snapshot) {
		for _, i := range pods {
			s.Pods[i].Labels["apps.kruise.io/specified-delete"] = ""
		}
	}
}

// warm has a preNormal hook wait for a label.
func warm(s *Snapshot) {
	s.Features.PreNormal = true
	s.Set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreNormal: &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"warm": "yes"}}}
}

// inState gives a pod a lifecycle state.
func inState(pod int, state lifecyclev1alpha1.StateType) edit {
	return func(s *Snapshot) { s.Pods[pod].Labels[lifecyclev1alpha1.StateLabel] = string(state) }
}

// STS-34: the update budget as OpenKruise 1.6 has it.
func TestUpdateBudgetOfLaterReleases(t *testing.T) {
	all := func(s *Snapshot) { s.Features.UpdateUnavailable = true }
	runPlanCases(t, []planCase{
		{"STS-34: all that do not serve are updated", "B", "A", "0A 1A- 2A-", with(all), "delete 2 Update, delete 1 Update", "MaxUnavailable 0"},
		{"STS-34: without the feature as many as maxUnavailable", "B", "A", "0A 1A- 2A-", nil, "delete 2 Update", "MaxUnavailable 1 0"},
		{"STS-34: one that serves waits, and holds up none below it", "B", "A", "0A- 1A 2A", with(all), "delete 0 Update", "MaxUnavailable 2 1"},
		{"STS-34: one beyond the partition uses the budget up", "B", "A", "0A- 1A 2A", with(all, partition(1)), "", "MaxUnavailable 2 1, Partition 0"},
		{"STS-34: within maxUnavailable", "B", "A", "0A- 1A 2A 3A", with(all, unavailable("3")), "delete 3 Update, delete 2 Update, delete 0 Update", "MaxUnavailable 1"},
		{"STS-34: updated ones that do not serve use it up", "B", "A", "0A 1A 2B-", with(all), "", "MaxUnavailable 1 0"},
	})
}

// STS-35: pods that users mark.
func TestSpecifiedDelete(t *testing.T) {
	runPlanCases(t, []planCase{
		{"STS-35: 1.4 ignores the label", "A", "A", "0A 1A", with(marked(0)), "", ""},
		{"STS-35: a marked pod is deleted", "A", "A", "0A 1A", with(later19, marked(0)), "delete 0 Scale", ""},
		{"STS-35: from the highest, while maxUnavailable lets", "A", "A", "0A 1A 2A", with(later19, marked(0, 1, 2)), "delete 2 Scale", "MaxUnavailable 1 0"},
		{"STS-35: one that does not serve goes at once, and others are tried behind one that waits", "A", "A", "0A- 1A 2A-", with(later19, marked(0, 1)), "delete 0 Scale", "MaxUnavailable 1"},
		{"STS-35: whatever the partition", "B", "A", "0A 1A", with(later19, marked(0), partition(2)), "delete 0 Scale", "Partition 1"},
		{"STS-35: and comes back at the revision of a new pod", "B", "A", "1A", with(later19, replicas(2), partition(2)), "create 0A", "Partition 1"},
		{"STS-35: it uses the budget of the update up", "B", "A", "0A 1A", with(later19, marked(0)), "delete 0 Scale", "MaxUnavailable 1"},
		{"STS-35: it is not updated in the same step", "B", "A", "0A 1A 2A-", with(later19, marked(1), partition(1)), "delete 2 Update", "MaxUnavailable 1, Partition 0"},
		{"STS-35: OrderedReady waits, and pods that are not ready go", "A", "A", "0A- 1A", with(later19, ordered, marked(0, 1)), "delete 0 Scale", ""},
		{"STS-35: OnDelete ignores the label", "A", "A", "0A 1A", with(later19, marked(0), onDelete), "", ""},
		{"STS-35: so it does while it is paused", "A", "A", "0A 1A", with(later19, marked(0), paused), "", ""},
		{"STS-35: a terminating one is not deleted again", "A", "A", "0A~ 1A", with(later19, marked(0)), "", "NameTaken 0"},
		{"STS-35: scale-in does not prefer it", "A", "A", "0A 1A 2A", with(later19, marked(0), replicas(2)), "delete 2 Scale, otherwise delete 0 Scale", ""},
		{"STS-35: one whose deletion is prepared is not returned to service", "A", "A", "0A^ 1A", with(later19, marked(0)), "delete 0 Scale", ""},
	})
}

// STS-36, STS-37: hooks of OpenKruise 1.5 and 1.8.
func TestLaterHooks(t *testing.T) {
	preparing := inState(0, lifecyclev1alpha1.StatePreparingNormal)
	normal := func(s *Snapshot) { s.Features.PreNormal = true }
	ahead := func(s *Snapshot) { s.Features.PreparingUpdateAsUpdate = true }
	updating := inState(0, lifecyclev1alpha1.StatePreparingUpdate)
	held := func(s *Snapshot) {
		s.Pods[0].Labels["hold"] = "yes"
		s.Set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{InPlaceUpdate: &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"hold": "yes"}}}
		inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType)(s)
	}
	runPlanCases(t, []planCase{
		{"STS-36: OrderedReady waits for the preNormal hook", "A", "A", "0A", with(ordered, replicas(2), warm, preparing), "", "OrderedReady new, PreNormalHook 0"},
		{"STS-36: 1.4 has no such hook", "A", "A", "0A", with(ordered, replicas(2), preparing), "Refresh 0, create 1A", ""},
		{"STS-36: it takes one of scaleStrategy", "A", "A", "0A", with(replicas(2), scaleUnavailable("1"), warm, preparing), "", "PreNormalHook 0, ScaleMaxUnavailable new"},
		{"STS-36: and of maxUnavailable", "B", "A", "0A 1A", with(warm, preparing, partition(1)), "", "MaxUnavailable 1, Partition 0, PreNormalHook 0"},
		{"STS-36: a pod that a hook has taken aside is not available", "A", "A", "0A", with(ordered, replicas(2), warm, inState(0, lifecyclev1alpha1.StateUpdated)), "Refresh 0", "OrderedReady new"},
		{"STS-36: one that is released for its update is replaced, though OrderedReady finds it unavailable", "B", "A", "0A^ 1B", with(ordered, normal), "delete 0 Update", ""},
		{"STS-36: but not while another is not available", "B", "A", "0A^ 1B-", with(ordered, normal), "", "OrderedReady 0"},
		{"STS-36: those behind it come first", "B", "A", "0A^", with(ordered, normal, replicas(2)), "create 1B", "OrderedReady 0"},
		{"STS-36: nor while its hook holds it", "B", "A", "0A^ 1B", with(ordered, normal, hooked(0)), "", "PreDeleteHook 0"},
		{"STS-36: one that users mark, and that is released, goes too", "A", "A", "0A^ 1A", with(ordered, normal, later19, marked(0)), "delete 0 Scale", ""},
		{"STS-36: also if its hook makes it not ready", "A", "A", "0A^- 1A", with(ordered, normal, later19, marked(0)), "delete 0 Scale", ""},
		{"STS-36: one whose place is wanted again is available again", "A", "A", "0A^ 1A", with(ordered, normal), "CancelDelete 0", ""},
		{"STS-37: a prepared pod comes first", "B", "A", "0A 1A 2A", with(unordered, ahead, held, updating, partition(2), unavailable("2")), "", "InPlaceUpdateHook 0, Partition 2 1"},
		{"STS-37: without the gate the highest does", "B", "A", "0A 1A 2A", with(unordered, held, updating, partition(2), unavailable("2")), "Refresh 0, UpdateInPlace 2", "Partition 1 0"},
		{"STS-37: and counts as updated for the revision of a new one", "B", "A", "0A", with(unordered, ahead, held, updating, replicas(2), partition(1)), "Refresh 0, create 1A", "Partition 0"},
		{"STS-37: it does not without the gate", "B", "A", "0A", with(unordered, held, updating, replicas(2), partition(1)), "Refresh 0, create 1B", "Partition 0"},
	})
}

// STS-36: the first state of a new pod, and what is counted.
func TestFirstState(t *testing.T) {
	for name, test := range map[string]struct {
		edits []edit
		want  string
	}{
		"without the feature":         {with(warm, func(s *Snapshot) { s.Features.PreNormal = false }), "Normal"},
		"without a hook":              {with(later19), "Normal"},
		"the hook is not met":         {with(warm), "PreparingNormal"},
		"the template meets the hook": {with(warm, func(s *Snapshot) { s.Set.Spec.Template.Labels["warm"] = "yes" }), "Normal"},
	} {
		plan := NewPlan(testSnapshot(t, "A", "A", "", append(test.edits, replicas(1))...))
		if got := plan.Create[0].Pod.Labels[lifecyclev1alpha1.StateLabel]; got != test.want {
			t.Errorf("%s: a new pod is %s, want %s", name, got, test.want)
		}
	}
	s := testSnapshot(t, "A", "A", "0A 1A", warm, inState(0, lifecyclev1alpha1.StatePreparingNormal))
	if status := NewPlan(s).Status; status.AvailableReplicas != 1 || status.UpdatedAvailableReplicas != 1 || status.ReadyReplicas != 2 || status.UpdatedReadyReplicas != 2 {
		t.Errorf("status %+v, want 1 available and 2 ready", status)
	}
}

// STS-38, STS-39: labels.
func TestLaterLabels(t *testing.T) {
	template := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"app": "other", "tier": "1"}}}
	claims := func(s *Snapshot) { s.Set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{template} }
	for _, test := range []struct {
		name  string
		edits []edit
		claim map[string]string
		index string
	}{
		{"STS-38: 1.4 replaces the labels of the template", nil, map[string]string{"app": "web"}, "0"},
		{"STS-38: 1.9 keeps them, and those of the selector win", with(later19), map[string]string{"app": "web", "tier": "1"}, "0"},
		{"STS-39: no label pod-index", with(func(s *Snapshot) { s.Features.NoPodIndexLabel = true }), map[string]string{"app": "web"}, ""},
	} {
		created := NewPlan(testSnapshot(t, "A", "A", "", append(test.edits, claims, replicas(1))...)).Create[0]
		if diff := cmp.Diff(test.claim, created.Claims[0].Labels); diff != "" || created.Pod.Labels[appsv1.PodIndexLabel] != test.index {
			t.Errorf("%s: pod-index %q (-want +got):\n%s", test.name, created.Pod.Labels[appsv1.PodIndexLabel], diff)
		}
	}
	if template.Labels["app"] != "other" {
		t.Error("the template was changed")
	}
}
