// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (DS-V8)
func TestVerdicts(t *testing.T) {
	const (
		flag     = "true and false both do what they say"
		noEffect = "the hook has no effect, as with OpenKruise: it holds no pod"
		rolling  = "spec.updateStrategy.rollingUpdate."
	)
	nodes := func(path string) []verdicts.Case {
		const number = "must be a number of nodes, 0 or more, or a whole percentage up to 100%"
		return []verdicts.Case{{Value: `"100%"`}, {Value: `-1`, Want: path + `: Invalid value: "-1": ` + number}, {Value: `"101%"`, Want: path + `: Invalid value: "101%": ` + number},
			{Value: `"5"`, Want: path + `: Invalid value: "5": ` + number}, {Value: `"many"`, Want: path + `: Invalid value: "many": ` + number}}
	}
	verdicts.Check(t, verdicts.Subject[v1alpha1.DaemonSet]{
		Valid: `
metadata: {namespace: shop, name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: main, image: agent}]}}`,
		Create: daemonset.ValidateCreate, Update: daemonset.ValidateUpdate, Touch: `{"burstReplicas":7}`,
	}, verdicts.Fields{
		"selector": {Cases: []verdicts.Case{{Value: `{}`, Want: "spec.selector: Invalid value: \"{}\": must not be empty"},
			{Value: `{"matchLabels":{"app":"other"}}`, Want: "spec.template.metadata.labels: Invalid value: \"app=agent\": must match spec.selector"}}},
		"template": {Works: "what is wrong with pods the API server says; one that fits no node waits for one", Cases: []verdicts.Case{
			{Value: `{"metadata":{"labels":{"app":"agent"}},"spec":{"containers":[{"name":"main","image":"a"}],"volumes":[{"name":"v","gcePersistentDisk":{"pdName":"d"}}]}}`, Want: "spec.template.spec.volumes[0].gcePersistentDisk.readOnly: Invalid value: false: must be true"}}},
		"updateStrategy.type": {Cases: []verdicts.Case{{Value: `"Rolling"`, Want: "spec.updateStrategy.type: Unsupported value: \"Rolling\""},
			{Value: `"OnDelete"`, With: `{"updateStrategy":{"rollingUpdate":{"maxUnavailable":-1}}}`}}}, // OnDelete reads no rollingUpdate
		"updateStrategy.rollingUpdate.rollingUpdateType": {Cases: []verdicts.Case{{Value: `"Surging"`}, {Value: `"InPlaceOnly"`, Want: rolling + "rollingUpdateType: Unsupported value: \"InPlaceOnly\""}}},
		"updateStrategy.rollingUpdate.maxUnavailable": {Cases: append(nodes(rolling+"maxUnavailable"),
			verdicts.Case{Value: `"0%"`, Want: rolling + "maxUnavailable: Invalid value: \"0%\": must not be 0 while maxSurge is 0, because no pod could ever be updated"})},
		"updateStrategy.rollingUpdate.maxSurge": {Cases: []verdicts.Case{{Value: `"100%"`}, {Value: `-1`, Want: rolling + `maxSurge: Invalid value: "-1": must be a number of nodes`},
			{Value: `1`, With: `{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}`, Want: rolling + "maxSurge: Invalid value: \"1\": must be 0 if maxUnavailable is not"},
			{Value: `1`, With: `{"updateStrategy":{"rollingUpdate":{"rollingUpdateType":"InPlaceIfPossible"}}}`, Want: rolling + "maxSurge: Invalid value: \"1\": must be 0 with the type InPlaceIfPossible"}}},
		"updateStrategy.rollingUpdate.selector": {Works: "one of no node updates none, and the plan says of each pod that it is not selected", Cases: []verdicts.Case{
			{Value: `{}`}, {Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: rolling + "selector.matchExpressions[0].values: Required value"}}},
		"updateStrategy.rollingUpdate.partition":    {Cases: []verdicts.Case{{Value: `2147483647`}, {Value: `-1`, Want: rolling + "partition: Invalid value: \"-1\": must be a number of nodes"}}},
		"updateStrategy.rollingUpdate.paused":       {Works: flag},
		"minReadySeconds":                           {Cases: []verdicts.Case{{Value: `-1`, Want: "spec.minReadySeconds: Invalid value: -1: must be 0 or more"}}},
		"burstReplicas":                             {Cases: append(nodes("spec.burstReplicas"), verdicts.Case{Value: `0`})}, // is read as 1
		"revisionHistoryLimit":                      {Cases: []verdicts.Case{{Value: `-1`, Want: "spec.revisionHistoryLimit: Invalid value: -1: must be 0 or more"}}},
		"lifecycle.preDelete.labelsHandler":         {Cases: verdicts.HookLabels("preDelete")},
		"lifecycle.preDelete.finalizersHandler":     {Cases: verdicts.HookFinalizers("preDelete")},
		"lifecycle.preDelete.markPodNotReady":       {Works: flag},
		"lifecycle.inPlaceUpdate.labelsHandler":     {Cases: []verdicts.Case{{Value: `{}`, Want: "spec.lifecycle.inPlaceUpdate: Forbidden: a DaemonSet has no such hook"}}},
		"lifecycle.inPlaceUpdate.finalizersHandler": {Cases: []verdicts.Case{{Value: `[]`, Want: "spec.lifecycle.inPlaceUpdate: Forbidden: a DaemonSet has no such hook"}}},
		"lifecycle.inPlaceUpdate.markPodNotReady":   {Cases: []verdicts.Case{{Value: `true`, Want: "spec.lifecycle.inPlaceUpdate: Forbidden: a DaemonSet has no such hook"}}},
		"lifecycle.preNormal.labelsHandler":         {Works: noEffect},
		"lifecycle.preNormal.finalizersHandler":     {Works: noEffect},
		"lifecycle.preNormal.markPodNotReady":       {Works: noEffect},
	})
}
