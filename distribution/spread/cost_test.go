// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/readiness"
)

const thirds = "subsets: [{name: a, maxReplicas: 33%}, {name: b, maxReplicas: 33%}, {name: c}]"

// Percentages are kept by a Deployment and a CloneSet that are scaled in from 100 at once, with what pods cost at 100. What is
// settled costs nothing, and a pod that goes costs the others one write at most. (WS-16)
func TestScaleIn(t *testing.T) {
	pods := slices.Concat(some(33, "a"), some(33, "b"), some(34, "c"))
	costs := func(pods []*corev1.Pod) []Cost {
		return Compute(State{Spread: spreadOf(t, thirds), Workload: deployment(100), Pods: pods, Now: now}).Costs
	}
	for _, c := range costs(pods) {
		c.Pod.Annotations[corev1.PodDeletionCost] = strconv.Itoa(int(c.Cost))
	}
	if settled, less := costs(pods), costs(pods[1:]); len(settled) > 0 || len(less) > 1 {
		t.Errorf("%d costs are written when all is settled, and %d when a pod goes", len(settled), len(less))
	}
	byCost := slices.Clone(pods)
	slices.SortStableFunc(byCost, func(a, b *corev1.Pod) int { // as a ReplicaSet does
		costA, _ := costOf(a)
		costB, _ := costOf(b)
		return cmp.Compare(costA, costB)
	})
	for kind, sorted := range map[string][]*corev1.Pod{
		"Deployment": byCost, "CloneSet": rollout.SortForDeletion(pods, rollout.DeletionOptions{Available: readiness.Ready}),
	} {
		for _, to := range []int{9, 1, 50, 98} {
			has := map[string]int{"a": 0, "b": 0, "c": 0}
			for _, pod := range sorted[100-to:] {
				has[pod.Name[:1]]++
			}
			if skew := max(has["a"], has["b"], has["c"]) - min(has["a"], has["b"], has["c"]); skew > 1 {
				t.Errorf("%s scaled in to %d: %v, want a skew of at most 1", kind, to, has)
			}
		}
	}
}
