// SPDX-License-Identifier: Apache-2.0

package resource_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (RD-23)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.ResourceDistribution]{
		Valid: `
metadata: {name: tls}
spec:
  resource: {apiVersion: v1, kind: Secret, metadata: {name: tls}, data: {key: YQ==}}
  targets: {allNamespaces: true}`,
		Create: resource.ValidateCreate, Update: resource.ValidateUpdate, Touch: `{"targets":{"allNamespaces":false}}`,
	})
}
