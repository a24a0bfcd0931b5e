// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// history is what has become of the pods of a namespace, and the budgets by which it is judged.
type history struct {
	podhistory.History
	budgets map[string]*budget // by workload
}

// budget says how many pods of a workload must be in service, and how many there may be, at every moment since as many changes.
type budget struct{ minAvailable, maxPods, since int }

// acts says what a change of a pod means to users; most mean nothing.
func acts(old, pod *corev1.Pod) (acts []string) {
	switch {
	case pod == nil:
		return nil
	case old == nil:
		acts = append(acts, "create "+pod.Name)
	case old.DeletionTimestamp == nil && pod.DeletionTimestamp != nil:
		acts = append(acts, "delete "+pod.Name)
	case old.Spec.Containers[0].Image != pod.Spec.Containers[0].Image:
		acts = append(acts, "update "+pod.Name)
	}
	if podstate.InService(pod) && (old == nil || !podstate.InService(old)) {
		acts = append(acts, "serve "+pod.Name)
	}
	return acts
}

// acted returns what has been done to the pods so far: "create web-0", "update web-0" in place, and "delete web-0". It also
// has when they came into service: "serve web-0".
func (h *history) acted() (all []string) {
	for _, c := range h.Changes() {
		all = append(all, acts(c.Old, c.New)...)
	}
	return all
}

// expect judges the pods of a workload from now on. All of them must be in service now.
func (s *fixture[T]) expect(set string, minAvailable, maxPods int) {
	s.Helper()
	if s.history.budgets[set] != nil {
		s.Fatalf("the budget of %s has not been judged yet", set)
	}
	s.history.budgets[set] = &budget{minAvailable, maxPods, len(s.history.Changes())}
}

// keptBudget ends the judgement and fails the test if the budget was broken.
func (s *fixture[T]) keptBudget(set string) {
	s.Helper()
	b := s.history.budgets[set]
	delete(s.history.budgets, set)
	summary, violations := b.judge(set, s.history.Changes())
	s.Logf("%s: %s; the pods were listed %d times", set, summary, s.Pods.Lists())
	if len(violations) > 0 {
		s.Errorf("the budget of %s is broken in %d states:\n%s", set, len(violations), strings.Join(violations[:min(5, len(violations))], "\n"))
	}
}

func (b *budget) judge(set string, changes []podhistory.Change) (summary string, violations []string) {
	states, leastAvailable, mostPods := 0, b.maxPods, 0
	podhistory.Replay(changes, b.since, func(all map[types.UID]*corev1.Pod, last podhistory.Change) {
		available, total, out := service(set, all)
		states, leastAvailable, mostPods = states+1, min(leastAvailable, available), max(mostPods, total)
		if available < b.minAvailable || total > b.maxPods {
			violations = append(violations, fmt.Sprintf("expected at least %d pods in service and at most %d pods, observed %d and %d; not in service: %s; after %s",
				b.minAvailable, b.maxPods, available, total, strings.Join(out, "; "), last))
		}
	})
	return fmt.Sprintf("%d states of the pods; at least %d were in service (%d wanted), at most %d existed (%d allowed)",
		states, leastAvailable, b.minAvailable, mostPods, b.maxPods), violations
}

// service counts the pods of a workload that are in service and those that there are, and describes who is not in service.
func service(set string, all map[types.UID]*corev1.Pod) (available, total int, out []string) {
	for _, pod := range all {
		if owner := metav1.GetControllerOf(pod); owner == nil || owner.Name != set {
			continue
		}
		if podstate.Active(pod) {
			total++
		}
		if podstate.InService(pod) {
			available++
		} else {
			out = append(out, podstate.Describe(pod, false))
		}
	}
	slices.Sort(out)
	return available, total, out
}

// deleted returns the names of the pods that are gone or about to go.
func (h *history) deleted() (names []string) {
	for _, t := range podhistory.Tracks(h.Changes(), 0) {
		if t.Deleted {
			names = append(names, t.First().Name)
		}
	}
	slices.Sort(names)
	return names
}
