// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPlans shows what is computed for the WorkloadSpread web of a Deployment, and to which subsets new pods go. To accept a change of behaviour, run
// the test with -rewrite and read the difference.
//
//	spec              has the WorkloadSpread have the spec that follows
//	compute           shows the status, what pods cost, and which go
//	uncosted          shows the same without what pods cost
//	moves             shows only how many go, and stay
//	assign            shows the subset of a new pod of the ReplicaSet web-1, or with pod=2 of web-2
//
// Arguments are:
//
//	wants=7, revision=2, kind=Job, mayfail=3   of the workload, of which nothing is known without wants; kind=StatefulSet is another
//	closed=(a, 100s), open=(a, 1h)             the subset takes no pods since then, or does again
//	reserved=(a, 31s), moved=(4s, 3s, 10*5s)   when a place was kept, and when pods were moved
//	early=600ms                                it is so long before
//	pods=(3*a, x@b)                            the pods, by name and subset
//
// Options of a pod are words of testdata/words.yaml:
//
//	r2, job, volcano              it is of the ReplicaSet web-2, of a Job, or of a Job of others
//	pending=2s, stuck=31s         it has been so long without a node, and stuck is told so
//	cost=300, says=TEXT, tracked  annotations and the finalizer
//	role=x, gone=x, z=x, needs=x  labels, an annotation, and a label that it requires of its node
//	new, on-node, restarted, ended, failed, deleting
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		var spec string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "spec" {
				spec = d.Input
				return ""
			}
			l := &line{t: t, kind: Deployments, ws: spreadOf(t, spec), of: "1", now: now}
			for _, arg := range d.CmdArgs {
				l.argument(arg.Key, arg.Vals)
			}
			return strings.Join(l.show(d.Cmd), "\n") + "\n"
		})
	})
}

// line is what a line of a script says.
type line struct {
	t        *testing.T
	kind     schema.GroupKind
	ws       *v1alpha1.WorkloadSpread
	workload *Workload
	mayFail  *int32
	revision string
	of       string // the ReplicaSet of a new pod
	now      time.Time
	pods     []*corev1.Pod
	reserved []Reservation
	moved    []time.Time
}

func (l *line) argument(key string, values []string) {
	first := strings.Join(values[:min(len(values), 1)], "")
	switch key {
	case "wants":
		l.workload = deployment(int32(l.number(first)))
	case "revision":
		l.revision = first
	case "kind":
		l.kind = map[string]schema.GroupKind{"Job": Jobs, "StatefulSet": StatefulSets, "JobOfOthers": {Group: "batch.example.com", Kind: "Jobs"}}[first]
	case "mayfail":
		l.mayFail = new(int32(l.number(first)))
	case "pod":
		l.of = first
	case "closed":
		before(l.ws, first, corev1.ConditionFalse, l.duration(values[1]))
	case "open":
		before(l.ws, first, corev1.ConditionTrue, l.duration(values[1]))
	case "reserved":
		expires := now.Add(ReservedFor - l.duration(values[1]))
		l.reserved = append(l.reserved, Reservation{Key: "k-" + first, Subset: first, Owner: "web-1", Revision: "1", Expires: expires})
	case "moved":
		for _, value := range values {
			n, age := l.times(value)
			l.moved = append(l.moved, slices.Repeat([]time.Time{now.Add(-l.duration(age))}, n)...)
		}
	case "early":
		l.now = now.Add(-l.duration(first))
	case "pods":
		for _, value := range values {
			l.read(value)
		}
	default:
		l.t.Fatalf("no argument %s", key)
	}
}

func (l *line) number(text string) int { return patches.Number(l.t, text) }

func (l *line) duration(text string) time.Duration { return patches.Duration(l.t, text) }

// times reads how often something is.
func (l *line) times(text string) (int, string) {
	n, what, is := strings.Cut(text, "*")
	if !is {
		return 1, text
	}
	return l.number(n), what
}

// inJSON are characters of JSON, by what stands for them in scripts.
var inJSON = strings.NewReplacer(";", ",", "->", ":")

// read reads pods: so many of a subset, or one of a name.
func (l *line) read(text string) {
	words := strings.Split(text, ":")
	for i := range words {
		words[i] = inJSON.Replace(words[i])
	}
	if name, subset, is := strings.Cut(words[0], "@"); is {
		l.pods = append(l.pods, newPod(name, subset, words[1:]...))
		return
	}
	n, subset := l.times(words[0])
	l.pods = append(l.pods, some(n, subset, words[1:]...)...)
}

func (l *line) show(command string) []string {
	if l.workload != nil {
		l.workload.GroupKind, l.workload.Revision, l.workload.MayFail = l.kind, l.revision, l.mayFail
	}
	if command == "assign" {
		got := assign(Input{Pod: unnamed("r" + l.of), Spread: l.ws, Workload: l.workload, Pods: l.pods, Reservations: l.reserved, Now: l.now})
		return []string{fmt.Sprintf("%q: %s", got.Subset, got.Why)}
	}
	got := Compute(State{Spread: l.ws, Workload: l.workload, Pods: l.pods, Moved: l.moved, Now: l.now})
	switch command {
	case "moves":
		return []string{fmt.Sprintf("%d of %d may go, %d stay, again after %v", got.MayDelete, len(got.Deletions), len(got.Staying), got.RequeueAfter)}
	case "compute":
		return show(got)
	}
	lines := unpriced(show(got))
	for _, stay := range got.Staying {
		lines = append(lines, stay.Pod.Name+" of "+stay.Subset+" stays")
	}
	return lines
}

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
		text := fmt.Sprintf("delete %s of %s: %s", d.Pod.Name, d.Subset, d.Why)
		if len(d.After) > 0 {
			text += ", after " + strings.Join(d.After, " ")
		}
		lines = append(lines, text)
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

func TestStatusOfNothing(t *testing.T) {
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
