// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// show says in lines what was computed. A status is "name replicas/missing", with ! if it takes
// no pods.
func show(c *Computed) (lines []string) {
	var status []string
	for _, s := range c.Status.SubsetStatuses {
		text := fmt.Sprintf("%s %d/%d", s.Name, s.Replicas, s.MissingReplicas)
		if now := condition(&s); now != nil && now.Status == corev1.ConditionFalse {
			text += "!"
		}
		status = append(status, text)
	}
	lines = append(lines, strings.Join(status, ", "))
	for _, a := range c.Adopt {
		lines = append(lines, fmt.Sprintf("adopt %s in %s", a.Pod.Name, a.Subset))
	}
	costs := map[string][]string{}
	var order []string
	for _, cost := range c.Costs {
		key := fmt.Sprintf("%s %d", strings.TrimPrefix(cost.Subset, "kruise.io/workloadspread-"), cost.Cost)
		if costs[key] == nil {
			order = append(order, key)
		}
		costs[key] = append(costs[key], cost.Pod.Name)
	}
	for _, key := range order {
		lines = append(lines, "cost "+key+": "+strings.Join(costs[key], " "))
	}
	for _, d := range c.Deletions {
		lines = append(lines, fmt.Sprintf("delete %s of %s: %s", d.Pod.Name, d.Subset, d.Why))
	}
	for _, name := range c.Recovered {
		lines = append(lines, "recovered "+name)
	}
	if c.RequeueAfter != 0 {
		lines = append(lines, "again after "+c.RequeueAfter.String())
	}
	return lines
}

// unpriced leaves out what says what pods cost.
func unpriced(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(line, "cost ") })
}

const (
	twoLimits = "subsets: [{name: a, maxReplicas: 2}, {name: b, maxReplicas: 2}, {name: c}]"
	adaptive  = twoLimits + "\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 30}}"
)

func TestStatus(t *testing.T) {
	ws := spreadOf(t, twoLimits)
	ws.Status.SubsetStatuses = []v1alpha1.WorkloadSpreadSubsetStatus{{Name: "b", MissingReplicas: 7,
		CreatingPods: map[string]metav1.Time{"x": metav1.NewTime(now.Add(-30 * time.Second))}, DeletingPods: map[string]metav1.Time{"y": metav1.NewTime(now)},
		Conditions: []v1alpha1.WorkloadSpreadSubsetCondition{{Type: "Other", Status: "True"}, {Type: v1alpha1.SubsetSchedulable, Status: "False"}}}}
	got := Compute(State{Spread: ws, Workload: deployment(9), Pods: slices.Concat(some(1, "a"), some(5, "b")), Now: now})
	want := &v1alpha1.WorkloadSpreadStatus{ObservedGeneration: 1, SubsetStatuses: []v1alpha1.WorkloadSpreadSubsetStatus{
		{Name: "a", Replicas: 1, MissingReplicas: 1},
		{Name: "b", Replicas: 5, Conditions: []v1alpha1.WorkloadSpreadSubsetCondition{{Type: "Other", Status: "True"}}},
		{Name: "c", MissingReplicas: -1},
	}}
	if diff := cmp.Diff(want, &got.Status); diff != "" {
		t.Errorf("WS-20 (-want +got) %s", diff)
	}
	if !Equal(want, &got.Status) || Equal(&ws.Status, want) {
		t.Error("Equal is wrong (WS-20)")
	}
	if got := Compute(State{}); len(got.Status.SubsetStatuses) != 0 {
		t.Errorf("without a WorkloadSpread: %v", got)
	}
	if got := Compute(State{Spread: &v1alpha1.WorkloadSpread{}, Workload: deployment(3), Pods: append(some(3, "a"), nil), Now: now}); len(got.Status.SubsetStatuses) != 0 || len(got.Unassigned) != 3 {
		t.Errorf("without subsets: %v", got)
	}
}

// before gives subsets the condition Schedulable, since a time ago.
func before(ws *v1alpha1.WorkloadSpread, subset string, status corev1.ConditionStatus, age time.Duration) *v1alpha1.WorkloadSpread {
	ws.Status.SubsetStatuses = append(ws.Status.SubsetStatuses, v1alpha1.WorkloadSpreadSubsetStatus{Name: subset, Conditions: []v1alpha1.WorkloadSpreadSubsetCondition{
		{Type: v1alpha1.SubsetSchedulable, Status: status, LastTransitionTime: metav1.NewTime(now.Add(-age))}}})
	return ws
}

// A subset that is open stays so since when it was, and one that opens does so now. (WS-18)
func TestSchedulableSince(t *testing.T) {
	got := Compute(State{Spread: before(before(spreadOf(t, adaptive), "a", "True", time.Hour), "b", "False", 301*time.Second), Workload: deployment(9), Now: now}).Status
	for i, want := range []time.Time{now.Add(-time.Hour), now, now} {
		if c := got.SubsetStatuses[i].Conditions[0]; c.Status != "True" || !c.LastTransitionTime.Time.Equal(want) {
			t.Errorf("WS-18: subset %d %v, want True since %v", i, c, want)
		}
	}
}

// Subsets get what is wanted in their order; those that are closed keep what they have, and no more than is wanted. (WS-3)
func TestShare(t *testing.T) {
	for _, test := range []struct {
		name    string
		wants   int32
		tallies []tally
		want    []int32
	}{
		{"in their order", 5, []tally{{limit: 2, open: true}, {limit: 2, open: true}, {limit: Unlimited, open: true}}, []int32{2, 2, 1}},
		{"none is left", 2, []tally{{limit: 3, open: true}, {limit: Unlimited, open: true}}, []int32{2, 0}},
		{"a closed one keeps what it has", 5, []tally{{limit: Unlimited, all: 2}, {limit: Unlimited, open: true}}, []int32{2, 3}},
		{"up to its limit", 5, []tally{{limit: 1, all: 2}, {limit: Unlimited, open: true}}, []int32{1, 4}},
		{"and up to what is wanted", 3, []tally{{limit: Unlimited, all: 5}, {limit: Unlimited, open: true}}, []int32{3, 0}},
		{"two closed ones", 3, []tally{{limit: Unlimited, all: 2}, {limit: Unlimited, all: 2}, {limit: 2, open: true}}, []int32{2, 1, 0}},
	} {
		share(test.tallies, test.wants)
		var got []int32
		for _, t := range test.tallies {
			got = append(got, t.share)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", test.name, diff)
		}
	}
}

// A pod that is misplaced since its subset adopts another one goes after that; one of another subset waits for nothing.
// (WS-19, WS-23)
func TestMisplacedAfterAdoption(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{"zone": "a"}}}
	spec := strings.Replace(zones, "- {name: b,", "- {name: full, maxReplicas: 1, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [c]}]}}\n- {name: b,", 1)
	fresh := pending(2 * time.Second)
	pods := slices.Concat(some(1, "a", fresh), some(2, "full", fresh), []*corev1.Pod{newPod("loose", "")})
	got := Compute(State{Spread: spreadOf(t, spec), Workload: deployment(4), Pods: pods, Node: func(string) *corev1.Node { return node }, Now: now})
	after := map[string][]string{}
	for _, d := range got.Deletions {
		after[d.Subset] = d.After
	}
	if diff := cmp.Diff(map[string][]string{"a": {"loose"}, "full": nil}, after); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}
