// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. (ILP-1, ILP-2, ILP-4)
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "ImageListPullJob", Resource: "imagelistpulljobs", Object: "{metadata: {namespace: shop, name: warm}, spec: {images: [a, b]}}",
		New: func(map[string][]string) conformance.Served { return &Webhook{} }})
}
