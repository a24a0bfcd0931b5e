// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (CS-V10)
func TestVerdicts(t *testing.T) {
	const valid = `
metadata: {namespace: shop, name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: nginx}]}}`
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.CloneSet]{Valid: valid, Create: cloneset.ValidateCreate, Update: cloneset.ValidateUpdate, Touch: `{"minReadySeconds":7}`})
}
