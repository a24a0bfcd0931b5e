// SPDX-License-Identifier: Apache-2.0

package spread_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (WS-31)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.WorkloadSpread]{
		Valid: `
metadata: {namespace: shop, name: web}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web}
  subsets: [{name: a}, {name: b}]`,
		Create: spread.ValidateCreate, Update: spread.ValidateUpdate, Touch: `{"scheduleStrategy":{"type":"Fixed"}}`, Unasked: true,
	})
}
