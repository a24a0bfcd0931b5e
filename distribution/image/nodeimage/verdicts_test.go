// SPDX-License-Identifier: Apache-2.0

package nodeimage_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (IMG-2.2)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.NodeImage]{
		Valid: "metadata: {name: node-1}\nspec: {}", Create: nodeimage.ValidateCreate, Update: nodeimage.ValidateUpdate,
	})
}
