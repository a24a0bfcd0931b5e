// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// lettered makes a pod of each letter, labelled with it; "C" is a pod that has
// the labels of both A and B. The names are the positions.
func lettered(letters string) []*corev1.Pod {
	var pods []*corev1.Pod
	for i, letter := range strings.Split(letters, "") {
		pod := newPod(strconv.Itoa(i))
		switch letter {
		case "A", "B":
			pod.Labels[letter] = "yes"
		case "C":
			pod.Labels["A"], pod.Labels["B"] = "yes", "yes"
		}
		pods = append(pods, pod)
	}
	return pods
}

func terms(letters ...string) (s inplacev1alpha1.UpdateScatterStrategy) {
	for _, letter := range letters {
		s = append(s, inplacev1alpha1.UpdateScatterTerm{Key: letter, Value: "yes"})
	}
	return s
}

func TestScatter(t *testing.T) {
	for _, tt := range []struct {
		name     string
		pods     string
		others   string // pods of the workload that need no update
		strategy inplacev1alpha1.UpdateScatterStrategy
		want     string
	}{
		{"CS-30: two of six", "....AA", "", terms("A"), "4 0 1 2 3 5"},
		{"CS-30: three of nine", "......AAA", "", terms("A"), "6 0 1 2 7 3 4 5 8"},
		{"CS-30: no term", "....AA", "", nil, "0 1 2 3 4 5"},
		{"CS-30: another value", "....AA", "", inplacev1alpha1.UpdateScatterStrategy{{Key: "A", Value: "no"}}, "0 1 2 3 4 5"},
		{"CS-30: one matched", ".....A", "", terms("A"), "0 1 2 3 4 5"},
		{"CS-30: one unmatched", "AAAAA.", "", terms("A"), "0 1 2 3 4 5"},
		{"CS-30: more matched than unmatched", "AAAAA..", "", terms("A"), "0 1 5 2 3 6 4"},
		{"CS-30: sizes that round up beyond the pods", ".....AAAA", "", terms("A"), "5 0 1 6 2 3 7 4 8"},
		{"CS-30: sizes that round down leave some over", "..AAAAAA", "", terms("A"), "2 3 4 0 5 6 1 7"},
		// The whole has one matched pod (beside the last) to one unmatched: so
		// do the turns, after the unmatched ones that are too many.
		{"CS-30: matched pods were rarer before", "......AAA", "AAAA", terms("A"), "0 1 2 3 6 4 7 5 8"},
		// Here it has two matched ones to one unmatched.
		{"CS-30: the whole decides the sizes", "....AAAAA", "AAAA", terms("A"), "0 1 4 5 2 6 7 3 8"},
		{"CS-30: the whole has more unmatched", "....AA", "....", terms("A"), "4 0 1 2 3 5"},
		{"CS-30: the term with most matches first", "....AABBB", "", terms("A", "B"), "4 6 0 1 2 7 3 8 5"},
		{"CS-30: equal matches: the first in the strategy", "....AABB", "", terms("A", "B"), "6 4 0 1 2 3 5 7"},
		{"CS-30: equal matches: the first in the strategy, turned round", "....AABB", "", terms("B", "A"), "4 6 0 1 2 3 7 5"},
		{"CS-30: a term that matches nothing is left out", "....AA", "", terms("B", "A"), "4 0 1 2 3 5"},
		{"CS-30: pods that match both", "....CC", "", terms("A", "B"), "4 0 1 2 3 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pods := lettered(tt.pods)
			all := pods
			if tt.others != "" {
				all = append(append([]*corev1.Pod(nil), pods...), lettered(tt.others)...)
			}
			if diff := cmp.Diff(tt.want, names(scatter(pods, itself, all, tt.strategy))); diff != "" {
				t.Errorf("order of %s (-want +got):\n%s", tt.pods, diff)
			}
		})
	}
}

// Whatever the numbers, every pod comes out once, and the pods that match keep
// their order among themselves, as do the others.
func TestScatterKeepsPods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods := lettered(rapid.StringOfN(rapid.SampledFrom([]rune(".AB")), 1, 40, -1).Draw(t, "pods"))
		all := append(lettered(rapid.StringOfN(rapid.SampledFrom([]rune(".AB")), 1, 40, -1).Draw(t, "others")), pods...)
		got := scatter(pods, itself, all, terms("A"))
		matched := func(pod *corev1.Pod) bool { return matches(pod, terms("A")[0]) }
		gotMatched, gotUnmatched := split(got, matched)
		wantMatched, wantUnmatched := split(pods, matched)
		if names(gotMatched) != names(wantMatched) || names(gotUnmatched) != names(wantUnmatched) {
			t.Errorf("CS-30: %s becomes %s", names(pods), names(got))
		}
	})
}
