// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// situation is what stands before users ask to take all pods down.
type situation struct {
	name  string
	steps []string // as scripts have them
	// wanted is how many pods their owners want that are the budget's. unknown says that the budget cannot know it, so that it may hold back
	// more than has to stay.
	wanted  int
	unknown bool
	judged  string   // the budget
	of      string   // what a targetRef says; none if no budget can name it
	asked   []string // pods; all that serve if it is empty
	settled string   // how long it stands
}

func situationOf(t *testing.T, d *datadriven.TestData) *situation {
	t.Helper()
	s := &situation{name: d.Pos, judged: "web", settled: "1m", steps: strings.Split(d.Input, "\n")}
	var words []string
	for _, arg := range d.CmdArgs {
		switch {
		case arg.Key == "unknown":
			s.unknown = true
		case len(arg.Vals) == 0:
			words = append(words, arg.Key)
		case arg.Key == "wanted":
			arg.Scan(t, 0, &s.wanted)
		case arg.Key == "judged":
			s.judged = arg.Vals[0]
		case arg.Key == "of":
			s.of = arg.Vals[0]
		case arg.Key == "asked":
			s.asked = arg.Vals
		case arg.Key == "settled":
			s.settled = arg.Vals[0]
		}
	}
	s.name = cmp.Or(strings.Join(words, " "), s.name)
	return s
}

// TestTable plays what may own the pods of a budget, of any kind, and known or not. In each situation the pods that have to serve stay, and
// the pods that may go are gone within a minute. Shown are the status, the conditions, the events, and of how many pods the deletion, eviction
// and update are allowed at once.
func TestTable(t *testing.T) {
	datadriven.RunTest(t, "testdata/situations.txt", func(t *testing.T, d *datadriven.TestData) string {
		return situationOf(t, d).play(t) + "\n"
	})
}

// TestOwners is the table of budgets: each kind of owner, by selector and by targetRef, in each state. A state has steps, in which $create, $scale
// and $remove are those of a kind, and $by is how the budget finds its pods. (PUB-2 to PUB-4, PUB-13, PUB-14, PUB-20, PUB-23, PUB-34, PUB-35)
func TestOwners(t *testing.T) {
	var states []*situation
	datadriven.RunTest(t, "testdata/owners.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := situationOf(t, d)
		if d.Cmd == "state" {
			states = append(states, s)
			return ""
		}
		var rows []string
		for _, by := range []string{"app=web", "of=" + s.of} {
			for _, state := range states {
				if played := *state; by != "of=none" && s.fills(&played, by) {
					rows = append(rows, fmt.Sprintf("%s, %s: %s", map[bool]string{true: "selector", false: "targetRef"}[by == "app=web"], state.name, played.play(t)))
				}
			}
		}
		return strings.Join(rows, "\n") + "\n"
	})
}

// fills has a state be that of a kind of owner. It tells whether the kind can be in it.
func (s *situation) fills(state *situation, by string) bool {
	steps := strings.ReplaceAll(strings.Join(state.steps, "\n"), "$by", by)
	for _, line := range s.steps {
		what, how, _ := strings.Cut(line, ": ")
		steps = strings.ReplaceAll(steps, "$"+what, strings.ReplaceAll(how, "; ", "\n"))
	}
	state.name, state.steps, state.unknown = s.name+", "+state.name, strings.Split(steps, "\n"), state.unknown || s.unknown
	return !strings.Contains(steps, "$")
}

// play has users ask for each operation in a cluster of its own, judges how many pods may go, and shows what came of it. Its judge knows the pods
// and their owners, and nothing of the status.
func (s *situation) play(t *testing.T) (got string) {
	var numbers []int32
	for _, operation := range []string{"delete", "evict", "update"} {
		inCluster(t, func(t *testing.T, c *cluster) {
			w := newWorld(c)
			defer func() { w.stop() }()
			w.play(s.steps...)
			c.Sleep(s.settled)
			serving := w.serving()
			asked, allowed := s.asked, int32(0)
			if len(asked) == 0 {
				asked = serving
			}
			got = w.state(s.judged)
			judged := w.budget(s.judged)
			for _, name := range asked {
				if w.ask(operation, name) {
					allowed++
				}
			}
			for _, v := range invariants.BudgetServing(judged, int32(s.wanted), int32(len(serving)), int32(len(asked)), allowed) {
				if !s.unknown || v.Invariant != invariants.Needless {
					t.Errorf("%s: %s: %v", s.name, operation, v)
				}
			}
			numbers = append(numbers, allowed)
		})
	}
	return got + fmt.Sprintf(" | %d %d %d", numbers[0], numbers[1], numbers[2])
}

// serving are the pods that serve, as their kubelets show them.
func (w *world) serving() (names []string) {
	for _, pod := range w.Pods() {
		aside := func(key string) bool { return strings.HasPrefix(key, v1alpha1.UnavailablePodLabelPrefix) }
		if pod.DeletionTimestamp == nil && !slices.ContainsFunc(slices.Collect(maps.Keys(pod.Labels)), aside) && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }) {
			names = append(names, pod.Name)
		}
	}
	return names
}

// state shows the status of a budget, its conditions and its events.
func (w *world) state(name string) string {
	var conditions, events []string
	for _, e := range w.Events.All() {
		if reason := strings.TrimSuffix(strings.Fields(e)[1], ":"); !slices.Contains(events, reason) && reason != v1alpha1.NoPodsEvent {
			events = append(events, reason)
		}
	}
	for _, c := range w.budget(name).Status.Conditions {
		if c.Type != v1alpha1.HeldUpCondition { // see testdata/scripts/heldup
			conditions = append(conditions, c.Type)
		}
	}
	return w.show(name) + " | " + strings.Join(conditions, " ") + " | " + strings.Join(events, " ")
}

// An eviction that something else denies each time, such as a PodDisruptionBudget, does not hold its place for good. (PUB-14.8)
func TestNobodyStarves(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		w, allowed := newWorld(c), map[string]int{}
		defer func() { w.stop() }()
		w.play("cloneset 3", "pods a b c", "budget 1", "wait 1s")
		longest, since := map[string]int{}, map[string]int{}
		for i := range 720 {
			for _, name := range []string{"a", "b"} {
				if c.Sleep("2500ms"); w.webhooks[i%2].ValidatePod(t.Context(), eviction(name, nil)).Allowed {
					allowed[name]++
					since[name] = i
				}
				longest[name] = max(longest[name], i-since[name])
			}
		}
		if allowed["a"] == 0 || allowed["b"] == 0 || longest["a"] > 36 || longest["b"] > 36 { // of 5 s
			t.Errorf("of 720 evictions in an hour these are allowed: %v; the longest pauses are %v times 5 s", allowed, longest)
		}
	})
}
