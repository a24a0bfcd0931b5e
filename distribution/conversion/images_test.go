// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/internal/testing/conformance"
)

// TestConversions shows what objects are in another version, in testdata/conversions: see conformance.PlayConversions.
func TestConversions(t *testing.T) {
	conformance.PlayConversions(t, "testdata/conversions", map[string]conformance.Convert{
		"ImagePullJob": conversion.ImagePullJob, "ImageListPullJob": conversion.ImageListPullJob, "NodeImage": conversion.NodeImage,
	})
}
