// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"testing"

	"github.com/podwright/podwright/inplace/revision"
)

// CS-S1, DS-5, STS-S1, UD-12.3: when the update revision becomes the current one.
func TestMayAdvance(t *testing.T) {
	for _, tt := range []struct {
		name     string
		progress revision.Progress
		want     bool
	}{
		{"nothing is wanted, and nothing is there", revision.Progress{}, true},
		{"all pods are updated", revision.Progress{Wanted: 3, Updated: 3}, true},
		{"one is behind", revision.Progress{Wanted: 3, Updated: 2, Behind: 1}, false},
		{"a surplus pod is behind", revision.Progress{Wanted: 3, Updated: 3, Behind: 1}, false},
		{"a pod is missing", revision.Progress{Wanted: 3, Updated: 2}, false},
		{"all pods are missing", revision.Progress{Wanted: 3}, false},
		{"surplus pods at the update revision", revision.Progress{Wanted: 2, Updated: 3}, true},
		{"more than all pods are behind", revision.Progress{Wanted: 2, Behind: -1}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.progress.MayAdvance(); got != tt.want {
				t.Errorf("%+v: got %v, want %v", tt.progress, got, tt.want)
			}
		})
	}
}
