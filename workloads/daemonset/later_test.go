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
