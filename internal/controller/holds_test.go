// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
)

func podsNamed(n int) (pods []*corev1.Pod) {
	for i := range n {
		pod := &corev1.Pod{}
		pod.Name = fmt.Sprintf("a-long-name-of-a-workload-%05d", i)
		pods = append(pods, pod)
	}
	return pods
}

func TestHolds(t *testing.T) {
	pods := podsNamed(3)
	for range 2 {
		holds := Holds(pods)
		for range 2 { // by the list, and by the index
			if !holds(pods[2].Name) || holds("other") {
				t.Errorf("%s: %t, other: %t", pods[2].Name, holds(pods[2].Name), holds("other"))
			}
		}
		if holds = Holds(pods); holds("other") || !holds(pods[0].Name) || Holds(pods[:0])(pods[0].Name) {
			t.Error("the first and the second name get other answers")
		}
	}
}

// A kind that creates one resource finds it in its list, and answers for the others at once.
func TestHoldsOf(t *testing.T) {
	type snapshot struct{ pods []*corev1.Pod }
	s := &snapshot{podsNamed(1)}
	list := func(s *snapshot) []*corev1.Pod { return s.pods }
	for _, test := range []struct {
		others   func(string) bool
		resource podwright.Resource
		name     string
		want     bool
	}{
		{HoldsNone, "pods", s.pods[0].Name, true},
		{HoldsAll, "pods", "other", false},
		{HoldsAll, "jobs", "other", true},
		{HoldsNone, "jobs", s.pods[0].Name, false},
	} {
		if got := HoldsOf("pods", list, test.others)(s, test.resource)(test.name); got != test.want {
			t.Errorf("%s %s: %t, want %t", test.resource, test.name, got, test.want)
		}
	}
}
