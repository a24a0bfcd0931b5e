// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

func byKeys(keys ...string) *inplacev1alpha1.UpdatePriorityStrategy {
	s := &inplacev1alpha1.UpdatePriorityStrategy{}
	for _, key := range keys {
		s.OrderPriority = append(s.OrderPriority, inplacev1alpha1.UpdatePriorityOrderTerm{OrderedKey: key})
	}
	return s
}

func weight(w int32, key, value string) inplacev1alpha1.UpdatePriorityWeightTerm {
	return inplacev1alpha1.UpdatePriorityWeightTerm{
		Weight: w, MatchSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
	}
}

func byWeight(terms ...inplacev1alpha1.UpdatePriorityWeightTerm) *inplacev1alpha1.UpdatePriorityStrategy {
	return &inplacev1alpha1.UpdatePriorityStrategy{WeightPriority: terms}
}

func preparingUpdateState(p *corev1.Pod) {
	p.Labels[lifecyclev1alpha1.StateLabel] = string(lifecyclev1alpha1.StatePreparingUpdate)
}

func TestSortForUpdateWithoutPriority(t *testing.T) {
	for _, tt := range []struct {
		name string
		pods []*corev1.Pod // in the order wanted
	}{
		{"CS-28: not scheduled, Pending, Unknown, not Ready", []*corev1.Pod{
			newPod("e", onNode("")), newPod("d", inPhase(corev1.PodPending)), newPod("c", inPhase(corev1.PodUnknown)),
			newPod("b", notReady), newPod("a")}},
		{"CS-28: ready time, restarts, younger", []*corev1.Pod{
			newPod("d", readySince(60)), newPod("c", restarts(1, 0)), newPod("b", created(60)), newPod("a")}},
		{"CS-28: neither deletion cost nor the node count", []*corev1.Pod{
			newPod("a", cost("5"), onNode("m")), newPod("b", cost("-5"), onNode("n")), newPod("c", onNode("n"))}},
		{"CS-28, LC-16: PreparingUpdate to the front, in order", []*corev1.Pod{
			newPod("y", preparingUpdateState, notReady), newPod("z", preparingUpdateState), newPod("a", notReady), newPod("b")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, list := range shuffled(tt.pods) {
				got, err := SortForUpdate(list, UpdateOptions{Priority: &inplacev1alpha1.UpdatePriorityStrategy{}})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(names(tt.pods), names(got)); diff != "" {
					t.Fatalf("order (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestSortForUpdateWithPriority(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options UpdateOptions
		pods    []*corev1.Pod
		want    string
	}{
		{"CS-29: larger sum of weights first",
			UpdateOptions{Priority: byWeight(weight(20, "tier", "canary"), weight(10, "zone", "x"), weight(15, "zone", "y"))},
			[]*corev1.Pod{newPod("none"), newPod("x", label("zone", "x")), newPod("y", label("zone", "y")),
				newPod("canary", label("tier", "canary")), newPod("canary-x", label("tier", "canary"), label("zone", "x"))},
			"canary-x canary y x none"},
		{"CS-29: without a key first, then by key, then by number",
			UpdateOptions{Priority: byKeys("order", "other")},
			[]*corev1.Pod{newPod("o9", label("order", "sts-9")), newPod("o10", label("order", "sts-10")), newPod("none"),
				newPod("other", label("other", "99")), newPod("both", label("order", "2"), label("other", "100")), newPod("word", label("order", "last"))},
			"none o10 o9 both word other"},
		{"CS-29: ties go to the higher index, not by CS-28",
			UpdateOptions{Priority: byKeys("order")},
			[]*corev1.Pod{newPod("first", notReady), newPod("second"), newPod("third", onNode(""))},
			"third second first"},
		{"CS-29: weight ties go to the higher index",
			UpdateOptions{Priority: byWeight(weight(1, "a", "b"))},
			[]*corev1.Pod{newPod("0"), newPod("1"), newPod("2", label("a", "b")), newPod("3", label("a", "b"))},
			"3 2 1 0"},
		{"CS-46: ties keep the order of CS-28",
			UpdateOptions{Priority: byKeys("order"), KeepOrder: true},
			[]*corev1.Pod{newPod("second", notReady), newPod("third"), newPod("first", onNode(""))},
			"first second third"},
		{"CS-46: weight ties keep the order of CS-28, whatever the list",
			UpdateOptions{Priority: byWeight(weight(1, "a", "b")), KeepOrder: true},
			[]*corev1.Pod{newPod("3"), newPod("2", notReady), newPod("1", label("a", "b")), newPod("0", label("a", "b"), notReady)},
			"0 1 2 3"},
		{"CS-46: an order without a priority is as it was",
			UpdateOptions{KeepOrder: true},
			[]*corev1.Pod{newPod("b"), newPod("a"), newPod("c", notReady)},
			"c a b"},
		{"CS-29: weights count where both are set",
			UpdateOptions{Priority: &inplacev1alpha1.UpdatePriorityStrategy{WeightPriority: byWeight(weight(1, "a", "b")).WeightPriority, OrderPriority: byKeys("a").OrderPriority}},
			[]*corev1.Pod{newPod("0", label("a", "b")), newPod("1")},
			"0 1"},
		{"CS-28: PreparingUpdate before priority",
			UpdateOptions{Priority: byWeight(weight(1, "a", "b"))},
			[]*corev1.Pod{newPod("hooked", preparingUpdateState), newPod("heavy", label("a", "b"))},
			"hooked heavy"},
		{"CS-28: priority, then scatter",
			UpdateOptions{Priority: byKeys("n"), Scatter: inplacev1alpha1.UpdateScatterStrategy{{Key: "a", Value: "b"}}},
			[]*corev1.Pod{newPod("1", label("n", "1"), label("a", "b")), newPod("2", label("n", "2"), label("a", "b")),
				newPod("3", label("n", "3")), newPod("4", label("n", "4")), newPod("5", label("n", "5")), newPod("6", label("n", "6"))},
			"2 6 5 4 3 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := names(tt.pods)
			got, err := SortForUpdate(tt.pods, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, names(got)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			if names(tt.pods) != given {
				t.Errorf("the list that was given is changed to %s", names(tt.pods))
			}
		})
	}
}

func TestSortByPriorityErrors(t *testing.T) {
	strategy := byWeight(weight(1, "a", "b"), inplacev1alpha1.UpdatePriorityWeightTerm{MatchSelector: metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}},
	}})
	_, err := SortForUpdate([]*corev1.Pod{newPod("a")}, UpdateOptions{Priority: strategy})
	if err == nil || !strings.Contains(err.Error(), "priorityStrategy.weightPriority[1].matchSelector") {
		t.Errorf("CS-29: error %v does not name the selector that is not valid", err)
	}
}

func TestSortByPriorityWithoutStrategy(t *testing.T) {
	got, err := SortByPriority([]*corev1.Pod{newPod("0"), newPod("1"), newPod("2")}, nil)
	if err != nil || names(got) != "2 1 0" {
		t.Errorf("STS-17: got %s, %v; want descending ordinals", names(got), err)
	}
}

func TestTrailingInteger(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		want        int64
	}{
		{"CS-29: after a word", "sts-10", 10},
		{"CS-29: only a number", "007", 7},
		{"CS-29: no number", "sts", 0},
		{"CS-29: a number that is not at the end", "10-sts", 0},
		{"CS-29: empty", "", 0},
		{"CS-29: the sign does not belong to it", "a-5", 5},
		{"CS-29: largest", "a9223372036854775807", math.MaxInt64},
		{"CS-29: larger than that", "a9223372036854775808", math.MaxInt64},
		{"CS-29: much larger", "99999999999999999999999999", math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := trailingInteger(tt.value); got != tt.want {
				t.Errorf("trailingInteger(%q) = %d, want %d", tt.value, got, tt.want)
			}
		})
	}
}
