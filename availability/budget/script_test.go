// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestSelect shows which pods are a budget's, how many there should be and are desired, and what it says of that. The lines are those of given.
// If "annotated", the total is that of the annotation.
func TestSelect(t *testing.T) {
	datadriven.RunTest(t, "testdata/select.txt", func(t *testing.T, d *datadriven.TestData) string {
		g := read(t, d)
		s, err := budget.Select(g.budget, g.pods, g.workloads)
		if d.HasArg("annotated") {
			s, err = budget.SelectAnnotated(g.budget, budget.Candidates(g.budget, budget.Read(g.pods...)), g.workloads)
		}
		if err != nil {
			return err.Error() + "\n"
		}
		r, err := budget.Compute(g.budget, s, start)
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{fmt.Sprintf("%d wanted, %d desired:%s", s.Total, r.Status.DesiredAvailable, names(s.Pods))}
		if s.Unprotected {
			lines = append(lines, "nothing is protected")
		}
		if len(s.Unknown) > 0 {
			lines = append(lines, "unknown: "+strings.Join(s.Unknown, ", "))
		}
		if s.Selector != nil && g.budget.Spec.Selector == nil {
			lines = append(lines, "selects "+metav1.FormatLabelSelector(s.Selector))
		}
		for _, c := range r.Status.Conditions {
			lines = append(lines, c.Type+": "+c.Message)
		}
		return strings.Join(lines, "\n") + "\n"
	})
}

func names(pods []*corev1.Pod) (text string) {
	for _, pod := range pods {
		text += " " + pod.Name
	}
	return text
}

// TestMatch shows of which budget beside the usual one a pod of the workload is. It also shows of which the pod may be told while its workload
// is not known.
func TestMatch(t *testing.T) {
	datadriven.RunTest(t, "testdata/match.txt", func(t *testing.T, d *datadriven.TestData) string {
		g := read(t, d)
		is, may := "none", ""
		if workloads := slices.Collect(maps.Values(g.workloads)); len(workloads) > 0 {
			if b := budget.For(g.pods[0], workloads[0], g.beside); b != nil {
				is = b.Name
			}
		} else if b := budget.For(g.pods[0], nil, g.beside); b != nil {
			is = b.Name
		}
		for _, b := range g.beside {
			if budget.MayMatch(b, g.pods[0]) {
				may += " " + b.Name
			}
		}
		return fmt.Sprintf("of %s; may be of:%s\n", is, may)
	})
}

// TestConflict shows whether two budgets are about the same pods. A line has the specs of both, with "and" between them.
func TestConflict(t *testing.T) {
	datadriven.RunTest(t, "testdata/conflict.txt", func(t *testing.T, d *datadriven.TestData) string {
		return patches.EachLine(d.Input, func(line string) string {
			first, second, _ := strings.Cut(line, " and ")
			var a, b v1alpha1.PodUnavailableBudget
			patches.Merge(t, &a, "{spec: "+first+"}")
			patches.Merge(t, &b, "{spec: "+second+"}")
			if budget.Conflict(&a, &b) != budget.Conflict(&b, &a) {
				t.Errorf("%s: %s and %s: it depends on which comes first", d.Pos, first, second)
			}
			return map[bool]string{true: "the same", false: "others"}[budget.Conflict(&a, &b)]
		})
	})
}

// TestValidate shows what is said of a new budget: a line is a patch of one that is valid. Behind "and" stands a patch that is saved then.
// What the rules of the definition say as well is tested with them, in examples/tests/crds.
func TestValidate(t *testing.T) {
	datadriven.RunTest(t, "testdata/validate.txt", func(t *testing.T, d *datadriven.TestData) string {
		return patches.EachLine(d.Input, func(line string) string {
			first, second, _ := strings.Cut(line, " and ")
			b := merged(t, newBudget(), first)
			errs := budget.ValidateCreate(b)
			if again := budget.ValidateUpdate(b, b.DeepCopy()); len(again) > len(errs) {
				t.Errorf("%s: %s: saved again: %v", d.Pos, first, again)
			}
			if second != "" {
				errs = budget.ValidateUpdate(merged(t, b.DeepCopy(), second), b)
			}
			return fmt.Sprint(errs.ToAggregate())
		})
	})
}

// TestMirror shows the PodDisruptionBudget of a budget. "denies" shows what it would deny for good that the budget allows: it is stricter, or
// overlaps with others. These are the given ones, and mirrors of the budgets beside. If "there", it exists already.
func TestMirror(t *testing.T) {
	datadriven.RunTest(t, "testdata/mirror.txt", func(t *testing.T, d *datadriven.TestData) string {
		g := read(t, d)
		s, err := budget.Select(g.budget, nil, g.workloads)
		if err != nil {
			t.Fatal(err)
		}
		s.Pods = g.pods
		mirror := budget.Mirror(g.budget, &g.budget.Status, s.Selector)
		if mirror == nil {
			return "none\n"
		}
		if d.Cmd == "mirror" {
			shown, err := json.Marshal(mirror)
			return fmt.Sprintln(string(shown), err)
		}
		lines, all := []string{}, append(slices.Clone(g.pods), g.strangers...)
		if why := budget.Stricter(g.budget, s, mirror, all); why != "" {
			lines = append(lines, "stricter: "+why)
		}
		for _, b := range g.beside {
			g.disruptions = append(g.disruptions, budget.Mirror(b, &b.Status, s.Selector))
		}
		if other, pod := budget.Overlap(mirror, d.HasArg("there"), g.disruptions, all); other+pod != "" {
			lines = append(lines, "overlaps "+other+" at pod "+pod)
		}
		return strings.Join(append(lines, ""), "\n")
	})
}

// TestUpdateOf shows what a change of a pod is. A line is a strategic merge patch of the pod, and the first line one of what it was.
func TestUpdateOf(t *testing.T) {
	datadriven.RunTest(t, "testdata/updates.txt", func(t *testing.T, d *datadriven.TestData) string {
		first, changes, _ := strings.Cut(d.Input, "\n")
		before := patched(t, newPod("pod"), first)
		return patches.EachLine(changes, func(patch string) string {
			after := patched(t, before, patch)
			is := budget.UpdateOf(before, after)
			if again := budget.UpdateOf(before, after); again != is {
				t.Errorf("%s: %s: asked again it says %q, so that it changed the pods", d.Pos, patch, again)
			}
			return string(is)
		})
	})
}

// patched is a copy of a pod with a strategic merge patch.
func patched(t *testing.T, pod *corev1.Pod, patch string) *corev1.Pod {
	t.Helper()
	after := pod.DeepCopy()
	patches.Strategic(t, after, patch)
	return after
}
