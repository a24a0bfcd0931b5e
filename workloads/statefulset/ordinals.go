// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strconv"

	"github.com/podwright/podwright/internal/podplan"
)

// window is the ordinals that the pods of a StatefulSet should have.
type window struct {
	// wanted lists them, ascending.
	wanted []int
	// end is the last of them plus one, and 0 if none is wanted.
	end      int
	reserved map[int]bool
}

// newWindow counts ordinals from 0 up, leaving out the reserved ones, until
// there are as many as replicas. (STS-1)
func newWindow(replicas int32, reserve []int) window {
	w := window{wanted: make([]int, 0, max(replicas, 0)), reserved: make(map[int]bool, len(reserve))}
	for _, ordinal := range reserve {
		w.reserved[ordinal] = true
	}
	for ordinal := 0; len(w.wanted) < int(replicas); ordinal++ {
		if !w.reserved[ordinal] {
			w.wanted = append(w.wanted, ordinal)
			w.end = ordinal + 1
		}
	}
	return w
}

// contains tells whether a pod should have the ordinal.
func (w *window) contains(ordinal int) bool { return ordinal < w.end && !w.reserved[ordinal] }

// podName is the name of the pod with an ordinal.
func podName(set string, ordinal int) string { return set + "-" + strconv.Itoa(ordinal) }

// claimName is the name of the claim that a pod has of a claim template.
func claimName(template, set string, ordinal int) string {
	return template + "-" + podName(set, ordinal)
}

// ordinalOf returns the ordinal in the name of a pod; false if the name is
// not that of a pod of the StatefulSet. (STS-2)
func ordinalOf(set, pod string) (int, bool) {
	parent, ordinal, ok := podplan.SplitOrdinal(pod)
	return int(ordinal), ok && parent == set
}
