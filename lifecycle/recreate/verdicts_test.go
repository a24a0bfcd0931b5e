// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (CRR-3.2)
func TestVerdicts(t *testing.T) {
	const (
		flag     = "true and false both do what they say"
		first    = "spec.containers[0]."
		copied   = "Forbidden: it is copied from the pod: leave it out"
		strategy = "spec.strategy."
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.ContainerRecreateRequest]{
		Valid: `
metadata: {namespace: shop, name: once}
spec: {podName: web-0, containers: [{name: main}]}`,
		Create: func(request *v1alpha1.ContainerRecreateRequest) field.ErrorList {
			return append(recreate.ValidateCreate(request), recreate.ValidatePod(request, runningPod())...)
		},
		Update: recreate.ValidateUpdate, Immutable: true,
	}, verdicts.Fields{
		"podName": {Works: "that there is such a pod, on a node, the webhook checks", Cases: []verdicts.Case{{Value: `""`, Want: "spec.podName: Required value"}}},
		"containers": {Cases: []verdicts.Case{{Value: `[]`, Want: "spec.containers: Required value: it names the containers to recreate"},
			{Value: `[{"name":"main"},{"name":"main"}]`, Want: "spec.containers[1].name: Duplicate value: \"main\""}}},
		"containers[].name": {Cases: []verdicts.Case{{Value: `"other"`, Want: first + "name: Invalid value: \"other\": pod web-0 has no such container"},
			{Value: `""`, Want: first + "name: Invalid value: \"\": pod web-0 has no such container"}}},
		"containers[].preStop":                    {Cases: []verdicts.Case{{Value: `{"exec":{"command":["true"]}}`, Want: first + "preStop: " + copied}}},
		"containers[].ports":                      {Cases: []verdicts.Case{{Value: `[{"containerPort":80}]`, Want: first + "ports: " + copied}}},
		"containers[].statusContext.containerID":  {Cases: []verdicts.Case{{Value: `"docker://1"`, Want: first + "statusContext: " + copied}}},
		"containers[].statusContext.restartCount": {Cases: []verdicts.Case{{Value: `1`, Want: first + "statusContext: " + copied}}},
		"strategy.failurePolicy":                  {Cases: []verdicts.Case{{Value: `"Retry"`, Want: strategy + "failurePolicy: Unsupported value: \"Retry\""}}},
		"strategy.orderedRecreate":                {Works: flag},
		"strategy.forceRecreate":                  {Works: flag},
		"strategy.terminationGracePeriodSeconds": {Cases: []verdicts.Case{{Value: `0`}, {Value: `9223372036854775807`}, // the agent waits as long as it can count
			{Value: `-1`, Want: strategy + "terminationGracePeriodSeconds: Invalid value: -1: must be 0 or more"}}},
		"strategy.unreadyGracePeriodSeconds": {Cases: []verdicts.Case{{Value: `0`}, {Value: `9223372036854775807`},
			{Value: `-1`, Want: strategy + "unreadyGracePeriodSeconds: Invalid value: -1: must be 0 or more"}}},
		"strategy.minStartedSeconds": {Works: "below 0 it is read as 0; a long one is waited for, until the deadline"},
		"activeDeadlineSeconds": {Cases: []verdicts.Case{{Value: `9223372036854775807`}, {Value: `2`, Want: "spec.activeDeadlineSeconds: Invalid value: 2: must be 3 or more"},
			{Value: `-1`, Want: "spec.activeDeadlineSeconds: Invalid value: -1: must be 3 or more"}}},
		"ttlSecondsAfterFinished": {Works: "below 0 it is read as 0: the request is deleted when it has completed"},
	})
}
