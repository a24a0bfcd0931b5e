// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"strconv"
	"strings"
)

// SplitOrdinal splits a name that ends in a dash and an ordinal, such as that of a pod ("web-0") or of a claim ("data-web-0"). It
// returns what stands before the dash, and the ordinal. It returns false for any other name, and for one that no controller would
// give. An ordinal has no leading zeros, and fits into an int32.
func SplitOrdinal(name string) (parent string, ordinal int32, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 1 {
		return "", 0, false
	}
	digits := name[i+1:]
	if strings.Trim(digits, "0123456789") != "" { // most names of pods: an error of strconv is made on the heap
		return "", 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		return "", 0, false
	}
	return name[:i], int32(n), true
}
