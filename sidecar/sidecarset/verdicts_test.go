// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (SCS-V12)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.SidecarSet]{
		Valid: `
metadata: {name: log}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: log, image: log}]`,
		Create: sidecarset.ValidateCreate, Update: sidecarset.ValidateUpdate, Touch: `{"revisionHistoryLimit":7}`, Unasked: true,
	})
}
