// SPDX-License-Identifier: Apache-2.0

package images

import (
	"maps"
	"math"
	"slices"
)

// Share divides what a node has among those who want it, namespaces as a rule. So what one asks for without bounds is taken
// from itself. It returns the most that any one may have, so that together they have at most total. Who wants less than an
// equal share leaves the rest to the others. It is at least 1, and math.MaxInt if there is enough for all.
func Share[K comparable](wants map[K]int, total int) int {
	amounts := slices.Sorted(maps.Values(wants))
	for i, amount := range amounts {
		share := total / (len(amounts) - i)
		if amount > share {
			return max(share, 1)
		}
		total -= amount
	}
	return math.MaxInt
}
