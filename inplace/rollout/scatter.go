// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// scatter spreads the pods that match a term among those that do not, term after term. So
// they are updated neither all at first nor all at last. The terms that most pods match
// come first; of equal ones the first in the strategy. It may return the list as given,
// and never changes it. (CS-30)
func scatter[T any](list []T, podOf func(T) *corev1.Pod, all []*corev1.Pod, strategy inplacev1alpha1.UpdateScatterStrategy) []T {
	type countedTerm struct {
		inplacev1alpha1.UpdateScatterTerm
		matches int
	}
	var terms []countedTerm
	for _, term := range strategy {
		if n := countMatches(list, podOf, term); n > 0 {
			terms = append(terms, countedTerm{term, n})
		}
	}
	slices.SortStableFunc(terms, func(a, b countedTerm) int { return b.matches - a.matches })
	for _, t := range terms {
		list = scatterTerm(list, podOf, all, t.UpdateScatterTerm)
	}
	return list
}

// scatterTerm spreads the pods that match one term.
func scatterTerm[T any](list []T, podOf func(T) *corev1.Pod, all []*corev1.Pod, term inplacev1alpha1.UpdateScatterTerm) []T {
	matched, unmatched := split(list, func(one T) bool { return matches(podOf(one), term) })
	if len(matched) < 2 || len(unmatched) < 2 {
		return list
	}
	allMatched := countMatches(all, itself, term)

	// One matched pod is left for the very end.
	last := matched[len(matched)-1]
	matched = matched[:len(matched)-1]
	g := groupBy(len(matched), len(unmatched), allMatched-1, len(all)-allMatched)

	spread := make([]T, 0, len(list))
	spread, unmatched = moveFirst(spread, unmatched, g.lead)
	for range g.groups {
		spread, matched = moveFirst(spread, matched, g.matched)
		spread, unmatched = moveFirst(spread, unmatched, g.unmatched)
	}
	spread = append(spread, matched...)
	spread = append(spread, unmatched...)
	return append(spread, last)
}

// grouping says how matched and unmatched pods take turns.
type grouping struct {
	// lead is the number of unmatched pods before the first group.
	lead int
	// groups is the number of turns, each of matched and then unmatched pods.
	groups, matched, unmatched int
}

// groupBy computes the turns of m matched and u unmatched pods, out of a
// matched and b unmatched ones in the whole workload. If matched pods are
// no rarer among those to be updated than in the whole, they are spread evenly.
// Otherwise the turns have the proportions of the whole, and the unmatched
// pods that are too many go first.
func groupBy(m, u, a, b int) grouping {
	a, b = max(a, m), max(b, u) // the whole has at least these pods
	if b*m >= u*a {
		g := min(m, u)
		return grouping{groups: g, matched: divide(m, g), unmatched: divide(u, g)}
	}
	g := grouping{matched: divide(a, min(a, b)), unmatched: divide(b, min(a, b))}
	g.groups = min(m/g.matched, u/g.unmatched)
	g.lead = u - g.groups*g.unmatched
	return g
}

// divide returns n/d, rounded to the nearest integer, halves up.
func divide(n, d int) int { return (2*n + d) / (2 * d) }

// moveFirst moves up to n pods from the front of one list to the end of another.
func moveFirst[T any](to, from []T, n int) (longer, shorter []T) {
	n = min(n, len(from))
	return append(to, from[:n]...), from[n:]
}

// split divides a list into those that are chosen and the others, each in its order.
func split[T any](list []T, choose func(T) bool) (chosen, others []T) {
	for _, one := range list {
		if choose(one) {
			chosen = append(chosen, one)
		} else {
			others = append(others, one)
		}
	}
	return chosen, others
}

func countMatches[T any](list []T, podOf func(T) *corev1.Pod, term inplacev1alpha1.UpdateScatterTerm) int {
	n := 0
	for _, one := range list {
		if matches(podOf(one), term) {
			n++
		}
	}
	return n
}

func itself(pod *corev1.Pod) *corev1.Pod { return pod }

func matches(pod *corev1.Pod, term inplacev1alpha1.UpdateScatterTerm) bool {
	value, ok := pod.Labels[term.Key]
	return ok && value == term.Value
}
