// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission.
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "PodProbeMarker", Resource: "podprobemarkers",
		Object: "{metadata: {namespace: shop, name: games}, spec: {selector: {matchLabels: {app: web}}, probes: [{name: idle, containerName: main," +
			" podConditionType: Idle, probe: {exec: {command: [x]}}}]}}",
		New: func(map[string][]string) conformance.Served { return &Webhook{} }})
}
