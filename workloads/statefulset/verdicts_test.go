// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (STS-V8)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1beta1.StatefulSet]{
		Valid: `
metadata: {namespace: shop, name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], containers: [{name: main, image: postgres}]}}`,
		Create: statefulset.ValidateCreate, Update: statefulset.ValidateUpdate, Touch: `{"replicas":7}`,
	})
}
