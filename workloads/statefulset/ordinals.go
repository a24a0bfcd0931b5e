// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/workload"
)

// window is the ordinals that the pods of a StatefulSet should have.
type window struct {
	// wanted lists them, ascending.
	wanted []int
	// start is the first ordinal that may be wanted. end is the last wanted one plus one, or start if none is wanted.
	start, end int
	reserved   workload.Reserved
}

// newWindow counts ordinals from the first one up, leaving out the reserved ones, until
// there are as many as replicas. The error says what is wrong with the spec. (STS-1, STS-31, STS-32)
func (s *Snapshot) newWindow() (w window, err error) {
	if w.reserved, err = workload.ParseReserved(s.Set.Spec.Reserved()); err != nil {
		return w, err
	}
	if o := s.Set.Spec.Ordinals; o != nil && s.Features.StartOrdinal {
		w.start = int(o.Start)
	}
	if w.start < 0 {
		return w, fmt.Errorf("spec.ordinals.start: found %d, want 0 or more", w.start)
	}
	replicas := max(int(s.replicas()), 0)
	w.wanted, w.end = w.reserved.Wanted(w.start, replicas)
	if len(w.wanted) < replicas {
		return w, fmt.Errorf("spec: of %d replicas, %d have an ordinal: want a lower spec.ordinals.start, or fewer ordinals in spec.reserveOrdinals", replicas, len(w.wanted))
	}
	return w, nil
}

// contains tells whether a pod should have the ordinal.
func (w *window) contains(ordinal int) bool {
	return ordinal >= w.start && ordinal < w.end && !w.reserved.Contains(ordinal)
}

// rank is how many wanted ordinals are lower than an ordinal.
func (w *window) rank(ordinal int) int {
	rank, _ := slices.BinarySearch(w.wanted, ordinal)
	return rank
}

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
