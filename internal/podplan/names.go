// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// SortByName sorts by name. The names of pods of one workload begin alike, so what comes next is compared first, as a number.
func SortByName[T any](all []T, name func(T) string) {
	type entry struct {
		next uint64 // what follows on the common beginning
		name string
		of   T
	}
	entries := make([]entry, len(all))
	common := 0
	for i, one := range all {
		entries[i] = entry{name: name(one), of: one}
		if i == 0 {
			common = len(entries[0].name)
		}
		common = commonBeginning(entries[0].name[:common], entries[i].name)
	}
	for i := range entries {
		var next [8]byte
		copy(next[:], entries[i].name[common:])
		entries[i].next = binary.BigEndian.Uint64(next[:])
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.next != b.next {
			return cmp.Compare(a.next, b.next)
		}
		return strings.Compare(a.name, b.name)
	})
	for i := range entries {
		all[i] = entries[i].of
	}
}

// commonBeginning is how many bytes a and b have in common at their beginning.
func commonBeginning(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
