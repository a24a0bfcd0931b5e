// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright"
)

// A release switches what it does by default; its gates that are off are off here. (CS-42 to CS-47, LC-30)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	want := Features{PauseWithoutSurge: true, ClaimTemplateHash: true, KeepOrder: true, ProgressReasons: true, NormalOnceBound: true,
		PreDownloadSandboxConfig: true}
	if diff := cmp.Diff(want, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}
