// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"testing"

	"github.com/podwright/podwright/sidecar/sidecarset"
)

// TestValidateResources judges policies for resources. (SCS-V13, SCI-26)
func TestValidateResources(t *testing.T) {
	const path = "spec.containers[0].resourcesPolicy"
	for _, test := range []struct{ container, want string }{
		{"resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu*50%}}}", ""},
		{"resourcesPolicy: {targetContainersMode: max, targetContainersNameRegex: ^a, resourcesExpr: {requests: {memory: memory}}}, resources: {claims: [{name: gpu}]}", ""},
		{"resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {requests: {cpu: cpu-2}}}", ""}, // for larger pods
		{"resourcesPolicy: {targetContainersMode: avg, resourcesExpr: {limits: {cpu: cpu}}}", path + ".targetContainersMode: Unsupported value"},
		{"resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {}}", path + ".resourcesExpr: Required value: at least one of limits or requests"},
		{"resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {}}}", path + ".resourcesExpr: Required value: at least one of limits or requests"},
		{"resourcesPolicy: {targetContainersMode: sum, targetContainersNameRegex: '(', resourcesExpr: {limits: {cpu: cpu}}}", path + `: Invalid value: "(": invalid regex pattern`},
		{"resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: memory}}}", path + `: Invalid value: "": cpu limits expression: failed to parse expression "memory": undefined variable: memory`},
		{"resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu*cpu}}}", path + `.resourcesExpr: Invalid value: "": cpu limits expression: if cpu is 0: failed to evaluate expression "cpu*cpu": multiplication of two quantities`},
		{"resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: 0-cpu-1}}}", path + ".resourcesExpr: Invalid value"},
		{"resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}}}, resources: {limits: {memory: 1Gi}}", path + ": Forbidden: resourcesPolicy and resources"},
	} {
		check(t, sidecarset.ValidateCreate(setOf(t, "demo", "{containers: [{name: log, "+test.container+"}]}")), test.want)
	}
	const policy = "resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}}}"
	check(t, sidecarset.ValidateCreate(setOf(t, "demo", "{initContainers: [{name: init, "+policy+"}]}")),
		"spec.initContainers[0].resourcesPolicy: Forbidden: resourcesPolicy is only supported for init containers with restartPolicy Always")
	check(t, sidecarset.ValidateCreate(setOf(t, "demo", "{initContainers: [{name: init, restartPolicy: Always, "+policy+"}]}")), "")
}
