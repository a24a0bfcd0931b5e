// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"

	"github.com/podwright/podwright/lifecycle"
)

func TestCancelNeeded(t *testing.T) {
	tests := []struct {
		name                             string
		replicas, owned, specified, want int
	}{
		{"LC-14: 3 to 2 with one PreparingDelete, then 3 again", 3, 3, 1, 1},
		{"LC-14: still 2", 2, 3, 1, 0},
		{"LC-14: the one was named in podsToDelete (CancelDelete skips it)", 3, 3, 1, 1},
		{"LC-E13: PreparingDelete counts as owned, also beside its replacement", 3, 4, 1, 0},
		{"never negative", 0, 5, 2, 0},
		{"all of them", 5, 5, 5, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lifecycle.CancelNeeded(tt.replicas, tt.owned, tt.specified); got != tt.want {
				t.Errorf("want %d, got %d", tt.want, got)
			}
		})
	}
}
