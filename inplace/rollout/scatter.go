// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// scatter spreads the pods that match a term among those that do not, term
// after term, so that they are updated neither all at first nor all at last.
// The terms that most pods match come first; of equal ones the first in the
// strategy. It may return the list as given, and never changes it.
// (CS-30)
func scatter(pods, all []*corev1.Pod, strategy inplacev1alpha1.UpdateScatterStrategy) []*corev1.Pod {
	type countedTerm struct {
		inplacev1alpha1.UpdateScatterTerm
		matches int
	}
	var terms []countedTerm
	for _, term := range strategy {
		if n := countMatches(pods, term); n > 0 {
			terms = append(terms, countedTerm{term, n})
		}
	}
	slices.SortStableFunc(terms, func(a, b countedTerm) int { return b.matches - a.matches })
	for _, t := range terms {
		pods = scatterTerm(pods, all, t.UpdateScatterTerm)
	}
	return pods
}

// scatterTerm spreads the pods that match one term.
func scatterTerm(pods, all []*corev1.Pod, term inplacev1alpha1.UpdateScatterTerm) []*corev1.Pod {
	matched, unmatched := split(pods, term)
	if len(matched) < 2 || len(unmatched) < 2 {
		return pods
	}
	allMatched := countMatches(all, term)

	// One matched pod is left for the very end.
	last := matched[len(matched)-1]
	matched = matched[:len(matched)-1]
	g := groupBy(len(matched), len(unmatched), allMatched-1, len(all)-allMatched)

	spread := make([]*corev1.Pod, 0, len(pods))
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
func moveFirst(to, from []*corev1.Pod, n int) (longer, shorter []*corev1.Pod) {
	n = min(n, len(from))
	return append(to, from[:n]...), from[n:]
}

func split(pods []*corev1.Pod, term inplacev1alpha1.UpdateScatterTerm) (matched, unmatched []*corev1.Pod) {
	for _, pod := range pods {
		if matches(pod, term) {
			matched = append(matched, pod)
		} else {
			unmatched = append(unmatched, pod)
		}
	}
	return matched, unmatched
}

func countMatches(pods []*corev1.Pod, term inplacev1alpha1.UpdateScatterTerm) int {
	n := 0
	for _, pod := range pods {
		if matches(pod, term) {
			n++
		}
	}
	return n
}

func matches(pod *corev1.Pod, term inplacev1alpha1.UpdateScatterTerm) bool {
	value, ok := pod.Labels[term.Key]
	return ok && value == term.Value
}
