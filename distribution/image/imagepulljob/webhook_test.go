// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. (IMG-1.1, IMG-1.8)
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "ImagePullJob", Resource: "imagepulljobs", Object: `{metadata: {namespace: shop, name: pull}, spec: {image: "nginx:1"}}`,
		New: func(map[string][]string) conformance.Served { return &Webhook{} }})
}
