// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// OrdinalRange is the ordinals from First to Last, both included.
type OrdinalRange struct{ First, Last int }

// Reserved are the ordinals that no pod gets. They are ascending, and neither overlap nor touch. A range costs as much as a number.
type Reserved []OrdinalRange

// ParseReserved reads spec.reserveOrdinals: numbers, and ranges such as "5-7". The error names the first entry that is neither, or whose
// end comes before its beginning. What the others reserve is returned all the same. Numbers below 0 reserve nothing.
func ParseReserved(entries []intstr.IntOrString) (reserved Reserved, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	all := make(Reserved, 0, len(entries))
	for i := range entries {
		r, wrong := ParseReservedEntry(&entries[i])
		switch {
		case wrong == nil:
			all = append(all, r)
		case err == nil:
			err = fmt.Errorf("spec.reserveOrdinals[%d]: %w", i, wrong)
		}
	}
	return union(all), err
}

// ParseReservedEntry reads one entry of spec.reserveOrdinals.
func ParseReservedEntry(entry *intstr.IntOrString) (OrdinalRange, error) {
	if entry.Type == intstr.Int {
		return OrdinalRange{First: int(entry.IntVal), Last: int(entry.IntVal)}, nil
	}
	first, last, isRange := strings.Cut(entry.StrVal, "-")
	from, err := strconv.ParseUint(first, 10, 63)
	to, err2 := strconv.ParseUint(last, 10, 63)
	if !isRange || err != nil || err2 != nil || first[0] == '+' || last[0] == '+' {
		return OrdinalRange{}, fmt.Errorf("found %q, want a number, or a range of numbers such as \"5-7\"", entry.StrVal)
	}
	if from > to {
		return OrdinalRange{}, fmt.Errorf("found %q, want a range that begins with the lower number", entry.StrVal)
	}
	return OrdinalRange{First: int(from), Last: int(to)}, nil
}

// union sorts ranges, and makes one of those that overlap or touch.
func union(all Reserved) Reserved {
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b OrdinalRange) int { return cmp.Compare(a.First, b.First) })
	merged := all[:1]
	for _, r := range all[1:] {
		if last := &merged[len(merged)-1]; r.First <= last.Last || r.First == last.Last+1 {
			last.Last = max(last.Last, r.Last)
		} else {
			merged = append(merged, r)
		}
	}
	return merged
}

// Contains tells whether an ordinal is reserved.
func (r Reserved) Contains(ordinal int) bool {
	_, found := r.at(ordinal)
	return found
}

// at returns the index of the range of an ordinal, or of the first one behind it.
func (r Reserved) at(ordinal int) (i int, found bool) {
	return slices.BinarySearchFunc(r, ordinal, func(r OrdinalRange, ordinal int) int {
		switch {
		case r.Last < ordinal:
			return -1
		case r.First > ordinal:
			return 1
		}
		return 0
	})
}

// Rank is how many ordinals from start up to an ordinal, that one left out, are not reserved.
func (r Reserved) Rank(start, ordinal int) int {
	rank := ordinal - start
	for _, reserved := range r {
		if first, last := max(reserved.First, start), min(reserved.Last, ordinal-1); first <= last {
			rank -= last - first + 1
		}
	}
	return rank
}

// Wanted lists the first n ordinals from start up that are not reserved, ascending. It returns one more than the last of
// them, or start if there is none. It lists fewer if there are no more: an ordinal fits into an int32.
func (r Reserved) Wanted(start, n int) (wanted []int, end int) {
	wanted, end = make([]int, 0, n), start
	next, _ := r.at(start)
	for ordinal := start; len(wanted) < n && ordinal <= math.MaxInt32; ordinal++ {
		if next < len(r) && r[next].First <= ordinal {
			ordinal = min(r[next].Last, math.MaxInt32)
			next++
			continue
		}
		wanted, end = append(wanted, ordinal), ordinal+1
	}
	return wanted, end
}

// End is one more than the last of the first n ordinals from start up that are not reserved; start if there is none. It lists none of them.
func (r Reserved) End(start, n int) int {
	end := start + max(n, 0)
	for _, reserved := range r {
		if first, last := max(reserved.First, start), min(reserved.Last, math.MaxInt32); first <= last && first < end {
			end += last - first + 1
		}
	}
	return end
}
