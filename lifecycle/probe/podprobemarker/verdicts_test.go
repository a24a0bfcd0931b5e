// SPDX-License-Identifier: Apache-2.0

package podprobemarker_test

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (PPM-1.1 to PPM-1.6)
func TestVerdicts(t *testing.T) {
	const (
		first    = "spec.probes[0]."
		probe    = "spec.probes[0].probe"
		other    = `{"name":"idle","containerName":"main","podConditionType":"idle","probe":{"exec":{"command":["true"]}}}`
		policies = `{"probes":[{"name":"idle","containerName":"main","probe":{"exec":{"command":["true"]}},"markerPolicy":[{"state":"Succeeded","labels":{"a":"b"}}]}]}`
		marked   = "spec.probes[0].markerPolicy[0]"
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.PodProbeMarker]{
		Valid: `
metadata: {namespace: shop, name: idle}
spec:
  selector: {matchLabels: {app: web}}
  probes: [` + other + `]`,
		Create: podprobemarker.ValidateCreate, Update: podprobemarker.ValidateUpdate,
	}, verdicts.Fields{
		"selector": {Works: "one that selects no pod probes those that come", Cases: []verdicts.Case{
			{Value: `{}`, Want: "spec.selector: Required value: it says which pods to probe", Change: "spec.selector: Required value\nspec.selector: Forbidden: cannot be changed"},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: "spec.selector.matchExpressions[0].values: Required value", Change: "spec.selector.matchExpressions[0].values: Required value\nspec.selector: Forbidden"}}},
		"probes": {Cases: []verdicts.Case{{Value: `[]`, Want: "spec.probes: Required value: there must be at least one"},
			{Value: `[` + other + `,` + other + `]`, Want: "spec.probes[1].name: Duplicate value: \"idle\"\nspec.probes[1].podConditionType: Duplicate value: \"idle\""}}},
		"probes[].name": {Cases: []verdicts.Case{{Value: `""`, Want: first + "name: Required value"}, {Value: `"Ready"`, Want: first + "name: Invalid value: \"Ready\": it is the name of a condition"}}},
		"probes[].containerName": {Works: "of a container that a pod has not, nothing is run there (PPM-4.3)", Cases: []verdicts.Case{
			{Value: `""`, Want: first + "containerName: Required value"}}},
		"probes[].probe": {Works: "an attempt takes 60 seconds at most, whatever the times are", Cases: []verdicts.Case{
			{Value: `{}`, Want: probe + ": Required value: it needs a handler"}, {Value: `{"grpc":{"port":1}}`, Want: probe + ".grpc: Forbidden"},
			{Value: `{"exec":{"command":[]}}`, Want: probe + ".exec.command: Required value"}, {Value: `{"tcpSocket":{"port":0}}`, Want: probe + ".tcpSocket.port: Invalid value: \"0\""},
			{Value: `{"tcpSocket":{"port":65536}}`, Want: probe + ".tcpSocket.port: Invalid value: \"65536\""}, {Value: `{"tcpSocket":{"port":80,"host":"other"}}`, Want: probe + ".tcpSocket.host: Forbidden"},
			{Value: `{"httpGet":{"port":80},"tcpSocket":{"port":80}}`, Want: probe + ": Forbidden: it may have one handler only"},
			{Value: `{"httpGet":{"port":80,"scheme":"FTP"}}`, Want: probe + ".httpGet.scheme: Unsupported value: \"FTP\""},
			{Value: `{"exec":{"command":["true"]},"periodSeconds":-1}`, Want: probe + ".periodSeconds: Invalid value: -1"},
			{Value: `{"exec":{"command":["true"]},"timeoutSeconds":-1}`, Want: probe + ".timeoutSeconds: Invalid value: -1"},
			{Value: `{"exec":{"command":["` + strings.Repeat("a", 5000) + `"]}}`, Want: probe + ": Invalid value"}}},
		"probes[].hideOutput": {Works: "httpGet and tcpSocket have no output, and hide none"},
		"probes[].podConditionType": {Cases: []verdicts.Case{{Value: `""`, Want: "spec.probes[0]: Required value: podConditionType or markerPolicy must say what becomes of the result"},
			{Value: `"Ready"`, Want: first + "podConditionType: Invalid value: \"Ready\": it is a condition that Kubernetes or podwright writes"},
			{Value: `"not a type"`, Want: first + "podConditionType: Invalid value: \"not a type\""}}},
		"probes[].markerPolicy":         {Cases: []verdicts.Case{{Value: `[{"state":"Failed","labels":{"a":"b"}},{"state":"Failed","labels":{"a":"c"}}]`, Want: "spec.probes[0].markerPolicy[1].state: Duplicate value: \"Failed\""}}},
		"probes[].markerPolicy[].state": {Cases: []verdicts.Case{{Value: `"Unknown"`, With: policies, Want: marked + ".state: Unsupported value: \"Unknown\""}}},
		"probes[].markerPolicy[].labels": {Cases: []verdicts.Case{{Value: `{}`, With: policies, Want: marked + ": Required value: labels or annotations must say what to set"},
			{Value: `{"not a key":"b"}`, With: policies, Want: marked + ".labels: Invalid value: \"not a key\""}}},
		"probes[].markerPolicy[].annotations": {Cases: []verdicts.Case{{Value: `{"not a key":"b"}`, With: policies, Want: marked + ".annotations: Invalid value: \"not a key\""}}},
	})
}
