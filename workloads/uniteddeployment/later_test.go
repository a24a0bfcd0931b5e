// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/podwright/podwright"
)

// A release switches what it does by default. (UD-12.5, UD-20, UD-21, UD-21.6, UD-21.7, UD-7)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{AdaptiveScheduling: true, UpdatedCondition: true, SubsetStatuses: true, RevisionLabel: true, ReservedLabels: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}
