// SPDX-License-Identifier: Apache-2.0

package podprobemarker_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (PPM-1.1 to PPM-1.6)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.PodProbeMarker]{
		Valid: `
metadata: {namespace: shop, name: idle}
spec:
  selector: {matchLabels: {app: web}}
  probes: [{name: idle, containerName: main, podConditionType: idle, probe: {exec: {command: ["true"]}}}]`,
		Create: podprobemarker.ValidateCreate, Update: podprobemarker.ValidateUpdate,
	})
}
