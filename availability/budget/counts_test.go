// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestCounts shows the status that budgets come to, which pods are not available, which were not deleted in time, and when to look again. To accept
// a change of behaviour, run the test with -rewrite and read the difference.
//
//	count 10 [after=20s]   counts for a workload that wants 10 pods, so long after 07:08:09, what the lines below say: see given
func TestCounts(t *testing.T) {
	datadriven.RunTest(t, "testdata/counts.txt", func(t *testing.T, d *datadriven.TestData) string {
		g, now := read(t, d), start
		selection := budget.Selection{Pods: g.pods, Elsewhere: g.strangers, Total: int32(patches.Number(t, d.CmdArgs[0].Key))}
		if d.HasArg("after") {
			var after string
			d.ScanArgs(t, "after", &after)
			now = start.Add(patches.Duration(t, after))
		}
		r, err := budget.Compute(g.budget, selection, now)
		if err != nil {
			return err.Error() + "\n"
		}
		g.budget.Status = r.Status
		again, err := budget.Compute(g.budget, selection, now)
		if err != nil || !budget.Equal(&again.Status, &r.Status) || r.Status.ObservedGeneration != g.budget.Generation {
			t.Errorf("%s: the status %+v, and then %+v, error %v", d.Pos, r.Status, again.Status, err)
		}
		return showCount(r)
	})
}

func showCount(r *budget.Result) string {
	lines := append([]string{fmt.Sprintf("%s of %d", numbers(&r.Status), r.Status.TotalReplicas)}, showRecords(&r.Status)...)
	for _, u := range r.Unavailable {
		lines = append(lines, "not available: "+u.Pod.Name+": "+u.Reason)
	}
	for _, pod := range r.NotDeleted {
		lines = append(lines, "not deleted: "+pod.Name)
	}
	for _, c := range r.Status.Conditions {
		lines = append(lines, c.Type+": "+c.Message)
	}
	if r.RequeueAfter > 0 {
		lines = append(lines, fmt.Sprint("again in ", r.RequeueAfter))
	}
	return strings.Join(lines, "\n") + "\n"
}

// numbers are current, desired and allowed.
func numbers(s *v1alpha1.PodUnavailableBudgetStatus) string {
	return fmt.Sprintf("%d available, %d desired, %d allowed", s.CurrentAvailable, s.DesiredAvailable, s.UnavailableAllowed)
}

// TestEqual: every field of a status counts. It does not matter in which part of a second something was, and since when conditions hold.
func TestEqual(t *testing.T) {
	at := metav1.NewTime(start)
	whole := v1alpha1.PodUnavailableBudgetStatus{DisruptedPods: map[string]metav1.Time{"a": at}, UnavailablePods: map[string]metav1.Time{"b": at},
		BookedSince: map[string]metav1.Time{"a": at}, PodUIDs: map[string]types.UID{"a": "uid"}, Conditions: []metav1.Condition{{Type: "A"}}}
	for _, m := range mutation.Of(&whole) {
		changed := whole.DeepCopy()
		m.Apply(changed)
		if same := strings.HasSuffix(m.Path, ".LastTransitionTime"); budget.Equal(&whole, changed) != same || budget.Equal(changed, &whole) != same {
			t.Errorf("of statuses that differ in %s Equal does not say %t", m.Path, same)
		}
	}
	later := whole.DeepCopy()
	later.DisruptedPods["a"] = metav1.NewTime(start.Add(time.Millisecond))
	if !budget.Equal(&whole, later) {
		t.Error("parts of a second count")
	}
}
