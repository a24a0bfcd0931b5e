// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// While an update is paused there is no surge with PauseWithoutSurge, and maxUnavailable is rounded as if none were set. (CS-42)
func TestPausedLimits(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		feature                   bool
		paused                    string
		wantSurge, wantMaxUnavail int32
	}{
		{"CS-6: not paused", true, "false", 2, 1},
		{"CS-42: paused", true, "true", 0, 2},
		{"CS-10: paused without the feature", false, "true", 2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newScenario(t)
			w.features.PauseWithoutSurge = tt.feature
			w.Spec("replicas=5", "maxUnavailable=30%", "maxSurge=30%", "paused="+tt.paused)
			p := &planner{Snapshot: w.snapshot()}
			if err := p.checkInput(); err != nil {
				t.Fatal(err)
			}
			if err := p.readSpec(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]int32{tt.wantSurge, tt.wantMaxUnavail}, []int32{p.limits.maxSurge, p.limits.maxUnavailable}); diff != "" {
				t.Errorf("maxSurge and maxUnavailable (-want +got):\n%s", diff)
			}
		})
	}
}
