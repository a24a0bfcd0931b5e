// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/image/imagelistpulljob"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (ILP-2)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.ImageListPullJob]{
		Valid: `
metadata: {namespace: shop, name: warm}
spec: {images: ["nginx:1"], completionPolicy: {type: Always}}`,
		Create: imagelistpulljob.ValidateCreate, Update: imagelistpulljob.ValidateUpdate, Touch: `{"pullSecrets":["a"]}`,
	})
}
