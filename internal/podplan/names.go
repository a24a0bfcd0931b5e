// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"slices"
	"strings"
)

// A sort key of a name holds its first bytes that differ from other names, and below them its place in the list.
const (
	keyBytes  = 5
	placeBits = 64 - 8*keyBytes
	placeMask = 1<<placeBits - 1
)

// RanksByName returns for each its place in the order of names. The names of pods of one workload begin alike, and mostly differ
// in the next few bytes. RanksByName sorts those bytes as numbers. It compares whole names only if the bytes are equal.
func RanksByName[T any](all []T, name func(T) string) []int32 {
	keys := keysOf(all, name)
	if len(keys) < 64 {
		slices.Sort(keys)
	} else {
		keys = inOrder(keys)
	}
	for begin, end := 0, 0; begin < len(keys); begin = end {
		for end = begin + 1; end < len(keys) && keys[end]>>placeBits == keys[begin]>>placeBits; end++ {
		}
		slices.SortFunc(keys[begin:end], func(a, b uint64) int { return strings.Compare(name(all[a&placeMask]), name(all[b&placeMask])) })
	}
	ranks := make([]int32, len(keys))
	for rank, key := range keys {
		ranks[key&placeMask] = int32(rank)
	}
	return ranks
}

// SortByName sorts by name, as RanksByName does.
func SortByName[T any](all []T, name func(T) string) {
	sorted := make([]T, len(all))
	for i, rank := range RanksByName(all, name) {
		sorted[rank] = all[i]
	}
	copy(all, sorted)
}

// keysOf returns the sort keys of names.
func keysOf[T any](all []T, name func(T) string) []uint64 {
	keys := make([]uint64, len(all))
	if len(all) == 0 {
		return keys
	}
	common := name(all[0]) // with which all names so far begin
	for _, one := range all[:min(len(all), 8)] {
		common = commonBeginning(common, name(one))
	}
	for i := 0; i < len(all); i++ {
		next, found := strings.CutPrefix(name(all[i]), common)
		if !found { // seldom: the first few names mostly tell
			common, i = commonBeginning(common, name(all[i])), -1
			continue
		}
		keys[i] = uint64(i)
		for b := range min(keyBytes, len(next)) {
			keys[i] |= uint64(next[b]) << (56 - 8*b)
		}
	}
	return keys
}

// inOrder sorts keys whose places ascend: by their last byte first, and each time in the order that there is.
func inOrder(keys []uint64) []uint64 {
	sorted := make([]uint64, len(keys))
	for shift := placeBits; shift < 64; shift += 8 {
		var from [257]int // the place of the first key with a byte
		for _, key := range keys {
			from[key>>shift&0xff+1]++
		}
		for b := range 256 {
			from[b+1] += from[b]
		}
		for _, key := range keys {
			b := key >> shift & 0xff
			sorted[from[b]] = key
			from[b]++
		}
		keys, sorted = sorted, keys
	}
	return keys
}

// commonBeginning is the text with which both a and b begin.
func commonBeginning(a, b string) string {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return a[:i]
		}
	}
	return a[:n]
}
