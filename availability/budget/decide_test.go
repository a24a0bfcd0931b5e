// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// TestDecide shows what budgets answer about a pod, a second after 07:08:09, and what is booked. To accept a change of behaviour, run the test with
// -rewrite and read the difference.
//
//	decide DELETE [resizes-alone] [inconsistent-may-go]
//	             asks about an operation, after what the lines below say: see given
func TestDecide(t *testing.T) {
	datadriven.RunTest(t, "testdata/decide.txt", func(t *testing.T, d *datadriven.TestData) string {
		g := read(t, d)
		pod, b := append(g.pods, newPod("pod"))[0], g.budget
		request := budget.Request{Operation: v1alpha1.PubOperation(d.CmdArgs[0].Key), Now: start.Add(time.Second),
			ResizesAlone: d.HasArg("resizes-alone"), InconsistentMayGo: d.HasArg("inconsistent-may-go")}
		before := b.DeepCopy()
		got := budget.Decide(b, pod, request)
		if got.Reason == "" || got.Status != nil && !got.Allowed {
			t.Errorf("%s: %+v", d.Pos, got)
		}
		request.DryRun = true
		if dry := budget.Decide(b, pod, request); dry.Allowed != got.Allowed || dry.Reason != got.Reason || dry.Status != nil {
			t.Errorf("%s: PUB-15: %+v", d.Pos, dry)
		}
		if b != nil && !budget.Equal(&before.Status, &b.Status) {
			t.Errorf("%s: the budget has changed", d.Pos)
		}
		return showDecision(got)
	})
}

// showDecision shows an answer and what is booked.
func showDecision(d budget.Decision) string {
	lines := []string{fmt.Sprintf("%s: %s", map[bool]string{true: "allowed", false: "denied"}[d.Allowed], d.Reason)}
	if s := d.Status; s != nil {
		lines = append(append(lines, numbers(s)), showRecords(s)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// showRecords shows which pods are recorded since when.
func showRecords(s *v1alpha1.PodUnavailableBudgetStatus) (lines []string) {
	for _, records := range []struct {
		kind string
		of   map[string]metav1.Time
	}{{"disrupted", s.DisruptedPods}, {"updated", s.UnavailablePods}, {"booked", s.BookedSince}} {
		if n := len(records.of); n > 10 {
			lines = append(lines, fmt.Sprint(records.kind, " ", n))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(records.of)) {
			lines = append(lines, fmt.Sprintf("%s %s since %s", records.kind, name, records.of[name].UTC().Format(time.TimeOnly)))
		}
	}
	if len(s.PodUIDs) > 0 {
		lines = append(lines, fmt.Sprint("UIDs ", s.PodUIDs))
	}
	return lines
}
