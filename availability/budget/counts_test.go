// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestCounts shows the status that budgets come to, which pods are not available, which were not deleted in time, and when to look again. The pods
// are of the CloneSet web and serve. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	count 10 [after=20s]   counts for a workload that wants 10 pods, so long after 07:08:09, what the lines below say:
//	budget PATCH           merges into the budget, which lets one pod go
//	pods 9 PATCH           has the pods pod-0, pod-1 and so on, and the patch merged into each
//	pod NAME PATCH         has one more pod
func TestCounts(t *testing.T) {
	datadriven.RunTest(t, "testdata/counts.txt", func(t *testing.T, d *datadriven.TestData) string {
		b, selection, now := newBudget(), budget.Selection{}, start
		for line := range strings.Lines(d.Input) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, patch, _ := strings.Cut(rest, " ")
			switch word {
			case "budget":
				fixture.Merge(t, b, rest)
			case "pods":
				for _, pod := range newPods(numberOf(t, name)) {
					fixture.Merge(t, pod, cmp.Or(patch, "{}"))
					selection.Pods = append(selection.Pods, pod)
				}
			case "pod":
				pod := newPod(name)
				fixture.Merge(t, pod, patch)
				selection.Pods = append(selection.Pods, pod)
			default:
				d.Fatalf(t, "no line %s", word)
			}
		}
		for _, arg := range d.CmdArgs {
			if arg.Key != "after" {
				selection.Total = int32(numberOf(t, arg.Key))
				continue
			}
			age, err := time.ParseDuration(arg.Vals[0])
			if err != nil {
				t.Fatal(err)
			}
			now = start.Add(age)
		}
		r := compute(t, b, selection, now)
		b.Status = r.Status
		if again := compute(t, b, selection, now); !budget.Equal(&again.Status, &r.Status) || r.Status.ObservedGeneration != b.Generation {
			t.Errorf("%s: the status %+v, and then %+v", d.Pos, r.Status, again.Status)
		}
		return showCount(r)
	})
}

func numberOf(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func showCount(r *budget.Result) string {
	lines := append([]string{fmt.Sprintf("%s of %d", numbers(&r.Status), r.Status.TotalReplicas)}, showRecords(&r.Status)...)
	for _, u := range r.Unavailable {
		lines = append(lines, "not available: "+u.Pod.Name+": "+u.Reason)
	}
	for _, pod := range r.NotDeleted {
		lines = append(lines, "not deleted: "+pod.Name)
	}
	if r.RequeueAfter > 0 {
		lines = append(lines, fmt.Sprint("again in ", r.RequeueAfter))
	}
	return strings.Join(lines, "\n") + "\n"
}
