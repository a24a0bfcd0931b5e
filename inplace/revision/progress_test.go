// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"testing"

	"github.com/podwright/podwright/inplace/revision"
)

// CS-S1, STS-S1: when the update revision becomes the current one.
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
		{"pods are missing, and come at the update revision", revision.Progress{Wanted: 3, Updated: 1}, true},
		{"the held-back pod is missing", revision.Progress{Wanted: 2, Updated: 1, HeldBack: 1}, false},
		{"all pods are missing", revision.Progress{Wanted: 3, HeldBack: 3}, false},
		{"a partition of no replicas", revision.Progress{Wanted: 0, HeldBack: 0}, true},
		{"a partition raised after all pods had been updated", revision.Progress{Wanted: 2, Updated: 2, HeldBack: 1}, true},
		{"surplus pods at the update revision", revision.Progress{Wanted: 2, Updated: 3, HeldBack: 1}, true},
		{"more than all pods are behind", revision.Progress{Wanted: 2, Behind: -1}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.progress.MayAdvance(); got != tt.want {
				t.Errorf("%+v: got %v, want %v", tt.progress, got, tt.want)
			}
		})
	}
}
