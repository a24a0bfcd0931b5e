// SPDX-License-Identifier: Apache-2.0

package images

import (
	"math"
	"testing"
)

func TestShare(t *testing.T) {
	for _, test := range []struct {
		name  string
		wants map[string]int
		total int
		want  int
	}{
		{"none", nil, 10, math.MaxInt},
		{"enough", map[string]int{"a": 9, "b": 1}, 10, math.MaxInt},
		{"one alone", map[string]int{"a": 11}, 10, 10},
		{"a small one has all it wants", map[string]int{"a": 500, "b": 1}, 500, 499},
		{"two large ones share", map[string]int{"a": 500, "b": 1, "c": 400}, 500, 249},
		{"more than there is", map[string]int{"a": 5, "b": 5, "c": 5}, 2, 1},
	} {
		if got := Share(test.wants, test.total); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
