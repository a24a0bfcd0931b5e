// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright"
)

// A release switches what it does by default. (SCS-30, SCS-32, SCS-33)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	want := Features{PartitionRoundsUp: true, ReplacePatch: true, UpgradableCondition: true}
	if diff := cmp.Diff(want, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

// The feature takes the right to patch the status of pods. (SCS-33)
func TestRulesOfUpgradableCondition(t *testing.T) {
	for _, on := range []bool{false, true} {
		may := false
		for _, rule := range Rules(Options{Features: Features{UpgradableCondition: on}}) {
			may = may || len(rule.Resources) == 1 && rule.Resources[0] == "pods/status" && rule.Verbs[0] == "patch"
		}
		if may != on {
			t.Errorf("on %t: may patch pods/status %t", on, may)
		}
	}
}
