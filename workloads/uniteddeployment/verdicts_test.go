// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (UD-26)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.UnitedDeployment]{
		Valid: `
metadata: {namespace: shop, name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    cloneSetTemplate:
      spec:
        selector: {matchLabels: {app: web}}
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: a}]}}
  topology: {subsets: [{name: a}, {name: b}]}`,
		Create: uniteddeployment.ValidateCreate, Update: uniteddeployment.ValidateUpdate, Touch: `{"revisionHistoryLimit":7}`,
	})
}
