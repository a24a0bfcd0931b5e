// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/sidecar/conversion"
)

// TestConversions shows what SidecarSets are in another version, in testdata/conversions: see conformance.PlayConversions.
func TestConversions(t *testing.T) {
	conformance.PlayConversions(t, "testdata/conversions", map[string]conformance.Convert{"SidecarSet": conversion.SidecarSet})
}
