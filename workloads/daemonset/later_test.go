// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright"
)

// A release switches what it does by default. (DS-25)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{PartitionRoundsDown: true, PreDownloadSandboxConfig: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

// A partition in percent is rounded up, and down with PartitionRoundsDown; of the nodes that there are, also before the first
// status. (DS-V3, DS-25)
func TestPartitionRounding(t *testing.T) {
	for _, tt := range []struct {
		partition string
		down      bool
		want      int32
	}{
		{"50%", false, 2}, {"50%", true, 1}, {"99%", false, 2}, {"99%", true, 2}, {"100%", true, 3}, {"0%", true, 0}, {"34%", true, 1}, {"33%", true, 0},
	} {
		s := place(t, setOf(t, rolling+"partition: "+tt.partition+"}}}"), "n1:v1 n2:v1 n3:v1")
		s.Features.PartitionRoundsDown = tt.down
		p := &planner{Snapshot: s, plan: &Plan{}}
		if err := p.checkInput(); err != nil {
			t.Fatal(err)
		}
		if err := p.read(); err != nil || p.limits.partition != tt.want {
			t.Errorf("%s of 3, down %t: %d, error %v, want %d", tt.partition, tt.down, p.limits.partition, err, tt.want)
		}
	}
}
