// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// lettered makes a pod of each letter, labelled with it. "C" is a pod that has
// the labels of both A and B, and "D" has another value of A. The names are the positions.
func lettered(letters string) []*corev1.Pod {
	var pods []*corev1.Pod
	for i, letter := range strings.Split(letters, "") {
		words := map[string][]string{"A": {"A=yes"}, "B": {"B=yes"}, "C": {"A=yes", "B=yes"}, "D": {"A=no"}}
		pods = append(pods, newPod(strconv.Itoa(i), words[letter]...))
	}
	return pods
}

func terms(letters ...string) (s inplacev1alpha1.UpdateScatterStrategy) {
	for _, letter := range letters {
		s = append(s, inplacev1alpha1.UpdateScatterTerm{Key: letter, Value: "yes"})
	}
	return s
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
