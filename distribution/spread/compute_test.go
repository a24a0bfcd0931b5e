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

func TestCosts(t *testing.T) {
	of := func(pods ...[]*corev1.Pod) []*corev1.Pod { return slices.Concat(pods...) }
	old := revision("0")
	for _, test := range []struct {
		name, spec string
		workload   *Workload
		pods       []*corev1.Pod
		want       []string
	}{
		{"WS-15: within, beyond and outside", twoLimits, deployment(7), of(some(3, "a"), some(1, "b"), some(2, "c"), some(1, "z")), []string{
			"a 3/0, b 1/1, c 2/-1", "cost a 300: a1 a0", "cost a -100: a2", "cost b 200: b0", "cost c 100: c0 c1", "cost fake-subset-name -400: z0"}},
		{"WS-15: no pod outside need say so", twoLimits, deployment(5), of(some(2, "a", cost("300")), some(2, "z")), []string{"a 2/0, b 0/2, c 0/-1"}},
		{"WS-15: one outside that says more does", twoLimits, deployment(5), of(some(2, "a", cost("300")), some(1, "z", cost("300"))), []string{
			"a 2/0, b 0/2, c 0/-1", "cost fake-subset-name -400: z0"}},
		{"WS-15: what stands is not written", twoLimits, deployment(3), of(some(2, "a", cost("300")), some(1, "b", cost("+200"))), []string{
			"a 2/0, b 1/1, c 0/-1", "cost b 200: b0"}},
		{"WS-15: those first that are missed least", twoLimits, deployment(5), []*corev1.Pod{
			newPod("ready", "a"), newPod("pending", "a", pending(time.Hour)), newPod("old", "a", old), newPod("new", "a", func(pod *corev1.Pod) {
				pod.CreationTimestamp = metav1.NewTime(now)
			}), newPod("restarted", "a", func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 3}} })}, []string{
			"a 5/0, b 0/2, c 0/-1", "cost a 300: new ready", "cost a -100: old pending restarted"}},
		{"WS-15: ended pods cost nothing", twoLimits, deployment(3), []*corev1.Pod{newPod("x", "a", ended), newPod("y", "a", deleting)}, []string{"a 0/2, b 0/2, c 0/-1"}},
		{"WS-15: not of StatefulSets", "targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}\n" + twoLimits,
			&Workload{GroupKind: StatefulSets, Replicas: new(int32(3))}, some(2, "a"), []string{"a 2/0, b 0/2, c 0/-1"}},
		{"WS-12: a workload that wants nothing", twoLimits, deployment(0), some(2, "a"), []string{"a 0/2, b 0/2, c 0/-1"}},
		{"WS-1: a workload that is not there", twoLimits, nil, some(2, "a"), []string{"a 0/2, b 0/2, c 0/-1"}},
		{"WS-16: percentages", "subsets: [{name: a, maxReplicas: 50%}, {name: b, maxReplicas: 25%}, {name: c}]", deployment(8), of(some(5, "a"), some(2, "b"), some(2, "c")), []string{
			"a 5/0, b 2/0, c 2/-1", "cost a 9999990: a0", "cost a 9999970: a1", "cost a 9999950: a2", "cost a 9999930: a3", "cost a -100: a4",
			"cost b 9999980: b0", "cost b 9999940: b1", "cost c 9999980: c0", "cost c 9999940: c1"}},
		{"WS-16: a pod keeps its cost, and another fills the gap", "subsets: [{name: a, maxReplicas: 50%}, {name: b}]", deployment(6), []*corev1.Pod{
			newPod("x", "a", cost("9999970")), newPod("y", "a"), newPod("z", "a", cost("9999930"))}, []string{
			"a 3/0, b 0/-1", "cost a 9999990: y", "cost a 9999950: z"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.workload != nil {
				test.workload.Revision = "1"
			}
			got := show(Compute(State{Spread: spreadOf(t, test.spec), Workload: test.workload, Pods: test.pods, Now: now}))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got) %s", diff)
			}
		})
	}
}

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

// WS-20: percentages are rounded up, so that together they may have room for more pods than the workload wants, before it is scaled and after.
func TestRoomOfPercentages(t *testing.T) {
	ws := spreadOf(t, "subsets: [{name: a, maxReplicas: 34%}, {name: b, maxReplicas: 33%}, {name: c, maxReplicas: 33%}]")
	for _, test := range []struct {
		wants, a, b, c int
		want           string
	}{
		{10, 4, 3, 3, "a 4/0, b 3/1, c 3/1"},
		{100, 34, 33, 33, "a 34/0, b 33/0, c 33/0"},
		{9, 4, 3, 2, "a 4/0, b 3/0, c 2/1"},
	} {
		got := Compute(State{Spread: ws, Workload: deployment(int32(test.wants)), Pods: slices.Concat(some(test.a, "a"), some(test.b, "b"), some(test.c, "c")), Now: now})
		if status := show(got)[0]; status != test.want || len(got.Deletions) > 0 {
			t.Errorf("of %d pods: %s, and %d deleted; want %s and none", test.wants, status, len(got.Deletions), test.want)
		}
	}
}

// before gives subsets the condition Schedulable, since a time ago.
func before(ws *v1alpha1.WorkloadSpread, subset string, status corev1.ConditionStatus, age time.Duration) *v1alpha1.WorkloadSpread {
	ws.Status.SubsetStatuses = append(ws.Status.SubsetStatuses, v1alpha1.WorkloadSpreadSubsetStatus{Name: subset, Conditions: []v1alpha1.WorkloadSpreadSubsetCondition{
		{Type: v1alpha1.SubsetSchedulable, Status: status, LastTransitionTime: metav1.NewTime(now.Add(-age))}}})
	return ws
}

func TestUnschedulable(t *testing.T) {
	for _, test := range []struct {
		name string
		ws   *v1alpha1.WorkloadSpread
		pods []*corev1.Pod
		want []string
	}{
		{"WS-17: too long", spreadOf(t, adaptive), []*corev1.Pod{newPod("x", "a", stuck(31*time.Second)), newPod("y", "a")},
			[]string{"a 2/0!, b 0/2, c 0/-1", "delete x of a: it could not be scheduled"}},
		{"WS-37: of a Job of which it is not known how many may fail", spreadOf(t, adaptive), []*corev1.Pod{newPod("x", "a", stuck(31*time.Second), of("batch/v1", "Job")), newPod("y", "a")},
			[]string{"a 2/0!, b 0/2, c 0/-1", "x of a stays"}},
		{"WS-37: of a Job of others", spreadOf(t, adaptive), []*corev1.Pod{newPod("x", "a", stuck(31*time.Second), of("batch.volcano.sh/v1alpha1", "Job"))},
			[]string{"a 1/1!, b 0/2, c 0/-1", "delete x of a: it could not be scheduled"}},
		{"WS-17: not yet", spreadOf(t, adaptive), []*corev1.Pod{newPod("x", "a", stuck(10*time.Second)), newPod("y", "a", stuck(12*time.Second))},
			[]string{"a 2/0, b 0/2, c 0/-1", "again after 18.000000001s"}},
		{"WS-17: Pending for another reason", spreadOf(t, adaptive), []*corev1.Pod{newPod("x", "a", pending(time.Hour))}, []string{"a 1/1, b 0/2, c 0/-1"}},
		{"WS-17: being deleted", spreadOf(t, adaptive), []*corev1.Pod{newPod("x", "a", stuck(time.Hour), deleting)}, []string{"a 0/2, b 0/2, c 0/-1"}},
		{"WS-17: with a node", spreadOf(t, adaptive), []*corev1.Pod{newPod("x", "a", stuck(time.Hour), func(pod *corev1.Pod) { pod.Spec.NodeName = "n" })}, []string{"a 1/1, b 0/2, c 0/-1"}},
		{"WS-17: in the last subset", spreadOf(t, adaptive), []*corev1.Pod{newPod("x", "c", stuck(time.Hour))}, []string{"a 0/2, b 0/2, c 1/-1"}},
		{"WS-17: Fixed", spreadOf(t, twoLimits), []*corev1.Pod{newPod("x", "a", stuck(time.Hour))}, []string{"a 1/1, b 0/2, c 0/-1"}},
		{"WS-17: without a time", spreadOf(t, twoLimits+"\nscheduleStrategy: {type: Adaptive, adaptive: {}}"), []*corev1.Pod{newPod("x", "a", stuck(time.Hour))}, []string{"a 1/1, b 0/2, c 0/-1"}},
		{"WS-17: a time of 0", spreadOf(t, twoLimits+"\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 0}}"), []*corev1.Pod{newPod("x", "a", stuck(time.Hour))}, []string{"a 1/1, b 0/2, c 0/-1"}},
		{"WS-18: closed for a while", before(spreadOf(t, adaptive), "a", "False", 100*time.Second), nil, []string{"a 0/2!, b 0/2, c 0/-1", "again after 3m20.000000001s"}},
		{"WS-18: open again", before(spreadOf(t, adaptive), "a", "False", 301*time.Second), nil, []string{"a 0/2, b 0/2, c 0/-1", "recovered a"}},
		{"WS-18: closed until the others have been tried", before(spreadOf(t, strings.Replace(adaptive, "30", "240", 1)), "a", "False", 400*time.Second), nil, []string{
			"a 0/2!, b 0/2, c 0/-1", "again after 1m25.000000001s"}},
		{"WS-18: by another clock", before(spreadOf(t, adaptive), "a", "False", -time.Hour), nil, []string{"a 0/2!, b 0/2, c 0/-1", "again after 5m0.000000001s"}},
		{"WS-18: the last one is open", before(spreadOf(t, adaptive), "c", "False", 0), nil, []string{"a 0/2, b 0/2, c 0/-1", "recovered c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Compute(State{Spread: test.ws, Workload: deployment(9), Pods: test.pods, Now: now})
			shown := unpriced(show(got))
			for _, stay := range got.Staying {
				shown = append(shown, stay.Pod.Name+" of "+stay.Subset+" stays")
			}
			if diff := cmp.Diff(test.want, shown); diff != "" {
				t.Errorf("(-want +got) %s", diff)
			}
		})
	}
	got := Compute(State{Spread: before(before(spreadOf(t, adaptive), "a", "True", time.Hour), "b", "False", 301*time.Second), Workload: deployment(9), Now: now}).Status
	for i, want := range []time.Time{now.Add(-time.Hour), now, now} {
		if c := got.SubsetStatuses[i].Conditions[0]; c.Status != "True" || !c.LastTransitionTime.Time.Equal(want) {
			t.Errorf("WS-18: subset %d %v, want True since %v", i, c, want)
		}
	}
}

func TestMisplaced(t *testing.T) {
	of := func(pods ...[]*corev1.Pod) []*corev1.Pod { return slices.Concat(pods...) }
	fresh := pending(2 * time.Second)
	const gone = ": its subset has its share, and another one misses a pod"
	job := "targetRef: {apiVersion: batch/v1, kind: Job, name: web}\n" + twoLimits
	for _, test := range []struct {
		name string
		spec string
		pods []*corev1.Pod
		want []string
	}{
		{"beyond the limit", twoLimits, of(some(3, "a", fresh), some(1, "b"), some(1, "c")), []string{"a 3/0, b 1/1, c 1/-1", "delete a2 of a" + gone}},
		{"beyond the rest", twoLimits, of(some(1, "a"), some(2, "b"), some(2, "c", fresh)), []string{"a 1/1, b 2/0, c 2/-1", "delete c1 of c" + gone}},
		{"too new", twoLimits, of(some(1, "a"), some(2, "b"), some(2, "c", pending(400*time.Millisecond))), []string{"a 1/1, b 2/0, c 2/-1", "again after 600ms"}},
		{"too old", twoLimits, of(some(1, "a"), some(2, "b"), some(2, "c", pending(61*time.Second))), []string{"a 1/1, b 2/0, c 2/-1"}},
		{"they have started", twoLimits, of(some(1, "a"), some(2, "b"), some(2, "c")), []string{"a 1/1, b 2/0, c 2/-1"}},
		{"no node has room", twoLimits, of(some(1, "a"), some(2, "b"), some(2, "c", stuck(9*time.Second))), []string{"a 1/1, b 2/0, c 2/-1"}},
		{"one is still to come, and one is not", twoLimits, of(some(1, "a"), some(1, "b"), some(2, "c", fresh)), []string{"a 1/1, b 1/1, c 2/-1", "delete c1 of c" + gone}},
		{"all that others miss is still to come", twoLimits, of(some(1, "a"), some(1, "b"), some(1, "c", fresh)), []string{"a 1/1, b 1/1, c 1/-1"}},
		{"nobody misses it", "subsets: [{name: a, maxReplicas: 1}, {name: b, maxReplicas: 1}]", of(some(2, "a", fresh), some(1, "b")), []string{"a 2/0, b 1/0"}},
		{"what another one misses is still to come", "subsets: [{name: a, maxReplicas: 1}, {name: b, maxReplicas: 1}]", some(2, "a", fresh), []string{"a 2/0, b 0/1"}},
		{"one is still to go", twoLimits, of(some(1, "a"), some(2, "b"), some(3, "c", fresh)), []string{"a 1/1, b 2/0, c 3/-1"}},
		{"an update", twoLimits, of(some(1, "a", revision("0")), some(2, "b", revision("0")), some(2, "c", fresh)), []string{"a 1/1, b 2/0, c 2/-1", "delete c1 of c" + gone}},
		{"an old revision", twoLimits, of(some(2, "a"), some(2, "b"), some(1, "c"), some(2, "a", fresh, revision("0"))), []string{"a 4/0, b 2/0, c 1/-1"}},
		{"as it should be", twoLimits, of(some(2, "a"), some(2, "b"), some(1, "c", fresh)), []string{"a 2/0, b 2/0, c 1/-1"}},
		{"a Job", job, of(some(1, "a"), some(2, "b"), some(2, "c", fresh)), []string{"a 1/1, b 2/0, c 2/-1"}},
	} {
		t.Run("WS-19: "+test.name, func(t *testing.T) {
			workload := deployment(5)
			workload.Revision = "1"
			got := Compute(State{Spread: spreadOf(t, test.spec), Workload: workload, Pods: test.pods, Now: now})
			if diff := cmp.Diff(test.want, unpriced(show(got))); diff != "" {
				t.Errorf("(-want +got) %s", diff)
			}
		})
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
