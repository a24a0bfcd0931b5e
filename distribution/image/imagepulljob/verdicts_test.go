// SPDX-License-Identifier: Apache-2.0

package imagepulljob_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (IMG-1.12)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.ImagePullJob]{
		Valid: `
metadata: {namespace: shop, name: warm}
spec: {image: "nginx:1", completionPolicy: {type: Always}}`,
		Create: imagepulljob.ValidateCreate, Update: imagepulljob.ValidateUpdate, Touch: `{"pullSecrets":["a"]}`,
	})
}
