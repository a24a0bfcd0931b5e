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
	const (
		flag     = "true and false both do what they say"
		first    = "spec.containers[0]."
		init     = "spec.initContainers[0]."
		one      = `{"initContainers":[{"name":"prepare","image":"a"}]}`
		strategy = "spec.updateStrategy."
		added    = "\nspec.containers[0].name: Invalid value: \"a\": container a is not found"
		number   = `must be a number such as 3 or a percentage such as "30%"`
		weighted = `{"updateStrategy":{"priorityStrategy":{"weightPriority":[{"matchSelector":{"matchLabels":{"a":"b"}}}]}}}`
		source   = `{"containers":[{"name":"log","image":"log","transferEnv":[{"envName":"A"}]}]}`
	)
	numbers := func(name string) []verdicts.Case {
		return []verdicts.Case{{Value: `0`}, {Value: `"150%"`}, {Value: `-1`, Want: strategy + name + ": Invalid value: -1: must not be negative"},
			{Value: `"many"`, Want: strategy + name + ": Invalid value: \"many\": " + number}, {Value: `"5"`, Want: strategy + name + ": Invalid value: \"5\": " + number}}
	}
	verdicts.Check(t, verdicts.Subject[v1alpha1.SidecarSet]{
		Valid: `
metadata: {name: log}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: log, image: log}]`,
		Create: sidecarset.ValidateCreate, Update: sidecarset.ValidateUpdate, Touch: `{"revisionHistoryLimit":7}`, Unasked: true,
	}, verdicts.Fields{
		"selector": {Cases: []verdicts.Case{{Value: `null`, Want: "spec.selector: Required value"}, {Value: `{}`, Want: "spec.selector: Invalid value: \"{}\": must not be empty"},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: "spec.selector.matchExpressions[0].values: Required value"}}},
		"namespace": {Works: "a namespace that is not there may come", Cases: []verdicts.Case{
			{Value: `"Not_One"`, Want: "spec.namespace: Invalid value: \"Not_One\": no namespace can have this name", Stays: true}}},
		"namespaceSelector": {Cases: []verdicts.Case{{Value: `{}`, Want: "spec.namespaceSelector: Invalid value: \"{}\": must not be empty"},
			{Value: `{"matchLabels":{"a":"b"}}`, With: `{"namespace":"shop"}`, Want: "spec.namespaceSelector: Forbidden: namespace and namespaceSelector exclude each other"}}},
		"initContainers":                                                             {Cases: []verdicts.Case{{Value: `[{"name":"log","image":"a"}]`, Want: init + "name: Duplicate value: \"log\""}}},
		"initContainers[].Container":                                                 {Works: "the rest the API server says (SCS-W4)"},
		"initContainers[].podInjectPolicy":                                           {Cases: []verdicts.Case{{Value: `"Between"`, With: one, Want: init + "podInjectPolicy: Unsupported value: \"Between\""}}},
		"initContainers[].upgradeStrategy.upgradeType":                               {Cases: []verdicts.Case{{Value: `"HotUpgrade"`, With: `{"initContainers":[{"name":"a","image":"a","restartPolicy":"Always"}]}`, Want: init + "upgradeStrategy.upgradeType: Forbidden: a native sidecar is not upgraded hot", Stays: true}}},
		"initContainers[].upgradeStrategy.hotUpgradeEmptyImage":                      {Works: "likewise"},
		"initContainers[].shareVolumePolicy.type":                                    {Cases: []verdicts.Case{{Value: `"some"`, With: one, Want: init + "shareVolumePolicy.type: Unsupported value: \"some\""}}},
		"initContainers[].shareVolumeDevicePolicy.type":                              {Works: "a word but enabled means disabled, as with OpenKruise 1.9"},
		"initContainers[].resourcesPolicy.targetContainersMode":                      {Cases: []verdicts.Case{{Value: `"avg"`, With: `{"initContainers":[{"name":"a","image":"a","restartPolicy":"Always","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: init + "resourcesPolicy.targetContainersMode: Unsupported value: \"avg\""}}},
		"initContainers[].resourcesPolicy.targetContainersNameRegex":                 {Cases: []verdicts.Case{{Value: `"("`, With: `{"initContainers":[{"name":"a","image":"a","restartPolicy":"Always","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: init + "resourcesPolicy: Invalid value: \"(\": invalid regex pattern"}}},
		"initContainers[].resourcesPolicy.resourcesExpr.limits.cpu":                  {Cases: []verdicts.Case{{Value: `"1+"`, With: `{"initContainers":[{"name":"a","image":"a","restartPolicy":"Always","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: init + "resourcesPolicy: Invalid value: \"\": cpu limits expression: failed to parse"}}},
		"initContainers[].resourcesPolicy.resourcesExpr.limits.memory":               {Cases: []verdicts.Case{{Value: `"1+"`, With: `{"initContainers":[{"name":"a","image":"a","restartPolicy":"Always","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: init + "resourcesPolicy: Invalid value: \"\": memory limits expression: failed to parse"}}},
		"initContainers[].resourcesPolicy.resourcesExpr.requests.cpu":                {Cases: []verdicts.Case{{Value: `"1+"`, With: `{"initContainers":[{"name":"a","image":"a","restartPolicy":"Always","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: init + "resourcesPolicy: Invalid value: \"\": cpu requests expression: failed to parse"}}},
		"initContainers[].resourcesPolicy.resourcesExpr.requests.memory":             {Cases: []verdicts.Case{{Value: `"1+"`, With: `{"initContainers":[{"name":"a","image":"a","restartPolicy":"Always","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: init + "resourcesPolicy: Invalid value: \"\": memory requests expression: failed to parse"}}},
		"initContainers[].transferEnv":                                               {Works: "as of containers"},
		"initContainers[].transferEnv[].sourceContainerName":                         {Works: "as of containers"},
		"initContainers[].transferEnv[].sourceContainerNameFrom.fieldRef.apiVersion": {Works: "is not read for init containers"},
		"initContainers[].transferEnv[].sourceContainerNameFrom.fieldRef.fieldPath":  {Works: "of a field that is none the name is empty: nothing is copied"},
		"initContainers[].transferEnv[].envName":                                     {Works: "as of containers"},
		"initContainers[].transferEnv[].envNames":                                    {Works: "as of containers"},
		"containers": {Cases: []verdicts.Case{{Value: `[]`, Want: "spec.containers: Required value: there is nothing to inject"},
			{Value: `[{"name":"a"},{"name":"a"}]`, Want: "spec.containers[1].name: Duplicate value: \"a\"", Change: "spec.containers[1].name: Duplicate value: \"a\"" + added + "\nspec.containers[1].name: Invalid"}}},
		"containers[].Container":       {Works: "the rest the API server says (SCS-W4); a mount of no volume is refused, as TestValidate has it"},
		"containers[].podInjectPolicy": {Cases: []verdicts.Case{{Value: `"Between"`, Want: first + "podInjectPolicy: Unsupported value: \"Between\""}}},
		"containers[].upgradeStrategy.upgradeType": {Cases: []verdicts.Case{{Value: `"Warm"`, Want: first + "upgradeStrategy.upgradeType: Unsupported value: \"Warm\""},
			{Value: `"HotUpgrade"`, Want: first + "upgradeStrategy.hotUpgradeEmptyImage: Required value"}}},
		"containers[].upgradeStrategy.hotUpgradeEmptyImage":          {Works: "it is read of hot containers alone"},
		"containers[].shareVolumePolicy.type":                        {Cases: []verdicts.Case{{Value: `"some"`, Want: first + "shareVolumePolicy.type: Unsupported value: \"some\""}}},
		"containers[].shareVolumeDevicePolicy.type":                  {Works: "a word but enabled means disabled, as with OpenKruise 1.9"},
		"containers[].resourcesPolicy.targetContainersMode":          {Cases: []verdicts.Case{{Value: `"avg"`, With: `{"containers":[{"name":"log","image":"log","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: first + "resourcesPolicy.targetContainersMode: Unsupported value: \"avg\""}}},
		"containers[].resourcesPolicy.targetContainersNameRegex":     {Cases: []verdicts.Case{{Value: `"("`, With: `{"containers":[{"name":"log","image":"log","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: first + "resourcesPolicy: Invalid value: \"(\": invalid regex pattern"}}},
		"containers[].resourcesPolicy.resourcesExpr.limits.cpu":      {Cases: []verdicts.Case{{Value: `"1+"`, With: `{"containers":[{"name":"log","image":"log","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: first + "resourcesPolicy: Invalid value: \"\": cpu limits expression: failed to parse"}}},
		"containers[].resourcesPolicy.resourcesExpr.limits.memory":   {Cases: []verdicts.Case{{Value: `"1+"`, With: `{"containers":[{"name":"log","image":"log","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: first + "resourcesPolicy: Invalid value: \"\": memory limits expression: failed to parse"}}},
		"containers[].resourcesPolicy.resourcesExpr.requests.cpu":    {Cases: []verdicts.Case{{Value: `"1+"`, With: `{"containers":[{"name":"log","image":"log","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: first + "resourcesPolicy: Invalid value: \"\": cpu requests expression: failed to parse"}}},
		"containers[].resourcesPolicy.resourcesExpr.requests.memory": {Cases: []verdicts.Case{{Value: `"1+"`, With: `{"containers":[{"name":"log","image":"log","resourcesPolicy":{"targetContainersMode":"sum","resourcesExpr":{"limits":{"cpu":"cpu"}}}}]}`, Want: first + "resourcesPolicy: Invalid value: \"\": memory requests expression: failed to parse"}}},
		"containers[].transferEnv":                                   {Works: "what is there twice is copied twice, and the last stands"},
		"containers[].transferEnv[].sourceContainerName":             {Works: "of a container that a pod has not, nothing is copied"},
		"containers[].transferEnv[].sourceContainerNameFrom.fieldRef.apiVersion": {Cases: []verdicts.Case{
			{Value: `"v2"`, With: `{"containers":[{"name":"log","image":"log","transferEnv":[{"sourceContainerNameFrom":{"fieldRef":{"fieldPath":"metadata.labels['a']"}}}]}]}`, Want: first + "transferEnv[0].sourceContainerNameFrom.fieldRef.apiVersion: Unsupported value: \"v2\""}}},
		"containers[].transferEnv[].sourceContainerNameFrom.fieldRef.fieldPath": {Cases: []verdicts.Case{
			{Value: `"metadata.name"`, With: source, Want: first + "transferEnv[0].sourceContainerNameFrom.fieldRef.fieldPath: Invalid value: \"metadata.name\""}}},
		"containers[].transferEnv[].envName":  {Works: "without one nothing is copied, as with OpenKruise: the sidecar lacks the variable"},
		"containers[].transferEnv[].envNames": {Works: "names that the container has not are left out"},
		"volumes":                             {Works: "the rest the API server says (SCS-W4); those of another SidecarSet are compared (SCS-V3)"},
		"updateStrategy.type":                 {Cases: []verdicts.Case{{Value: `"OnDelete"`, Want: strategy + "type: Unsupported value: \"OnDelete\""}}},
		"updateStrategy.paused":               {Works: flag},
		"updateStrategy.selector":             {Cases: []verdicts.Case{{Value: `{}`, Want: strategy + "selector: Invalid value: \"{}\": must not be empty"}}},
		"updateStrategy.partition":            {Cases: numbers("partition")},
		"updateStrategy.maxUnavailable":       {Works: "with 0 no pod that serves is updated, and the plan says so: users hold an update so", Cases: numbers("maxUnavailable")},
		"updateStrategy.priorityStrategy.orderPriority": {Cases: []verdicts.Case{{Value: `[{"orderedKey":"a"}]`, With: `{"updateStrategy":{"priorityStrategy":{"weightPriority":[{"weight":1,"matchSelector":{"matchLabels":{"a":"b"}}}]}}}`,
			Want: strategy + "priorityStrategy: Forbidden: weightPriority and orderPriority are both set"}}},
		"updateStrategy.priorityStrategy.orderPriority[].orderedKey": {Works: "by a key that no pod has, all are equal: the usual order stands", Cases: []verdicts.Case{
			{Value: `""`, Want: strategy + "priorityStrategy.orderPriority[0].orderedKey: Required value"}, {Value: `"no key"`}}},
		"updateStrategy.priorityStrategy.weightPriority": {Works: "a term that is there twice has twice the weight"},
		"updateStrategy.priorityStrategy.weightPriority[].weight": {Cases: []verdicts.Case{
			{Value: `-1`, With: weighted, Want: strategy + "priorityStrategy.weightPriority[0].weight: Invalid value: -1: must be between 0 and 100"},
			{Value: `101`, With: weighted, Want: strategy + "priorityStrategy.weightPriority[0].weight: Invalid value: 101"}}},
		"updateStrategy.priorityStrategy.weightPriority[].matchSelector": {Cases: []verdicts.Case{
			{Value: `{}`, Want: strategy + "priorityStrategy.weightPriority[0].matchSelector: Required value"},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: strategy + "priorityStrategy.weightPriority[0].matchSelector.matchExpressions[0].values: Required value"}}},
		"updateStrategy.scatterStrategy":           {Cases: []verdicts.Case{{Value: `[{"key":"a","value":"b"},{"key":"a","value":"b"}]`, Want: strategy + "scatterStrategy[1]: Duplicate value"}}},
		"updateStrategy.scatterStrategy[].key":     {Works: "a key that no pod has spreads nothing", Cases: []verdicts.Case{{Value: `""`, Want: strategy + "scatterStrategy[0].key: Required value"}}},
		"updateStrategy.scatterStrategy[].value":   {Works: "likewise"},
		"injectionStrategy.paused":                 {Works: flag},
		"injectionStrategy.revision.customVersion": {Works: "that there is such a revision the webhook checks (SCS-W3); beside a revisionName it is not read"},
		"injectionStrategy.revision.revisionName": {Works: "that there is such a revision the webhook checks (SCS-W3)", Cases: []verdicts.Case{
			{Value: `null`, With: `{"injectionStrategy":{"revision":{"policy":"Always"}}}`, Want: "spec.injectionStrategy.revision.revisionName: Required value"}}},
		"injectionStrategy.revision.policy": {Cases: []verdicts.Case{{Value: `"Partial"`, With: `{"injectionStrategy":{"revision":{"customVersion":"1"}}}`},
			{Value: `"Some"`, With: `{"injectionStrategy":{"revision":{"customVersion":"1"}}}`, Want: "spec.injectionStrategy.revision.policy: Unsupported value: \"Some\""}}},
		"imagePullSecrets":        {Works: "one that is there twice is added once"},
		"imagePullSecrets[].name": {Works: "of a Secret that is not there the kubelet pulls without"},
		"revisionHistoryLimit":    {Works: "below 1 it is read as 1"},
		"patchPodMetadata":        {Cases: []verdicts.Case{{Value: `[{"annotations":{"a":"b"}},{"annotations":{"a":"c"}}]`, Want: "spec.patchPodMetadata[1].annotations[a]: Duplicate value: \"a\""}}},
		"patchPodMetadata[].annotations": {Cases: []verdicts.Case{{Value: `{}`, Want: "spec.patchPodMetadata[0].annotations: Required value"}, {Value: `{"not a key":"b"}`, Want: "spec.patchPodMetadata[0].annotations: Invalid value: \"not a key\""},
			{Value: `{"a":"[]"}`, With: `{"patchPodMetadata":[{"patchPolicy":"MergePatchJson"}]}`, Want: "spec.patchPodMetadata[0].annotations[a]: Invalid value: \"[]\": MergePatchJson merges JSON objects"}}},
		"patchPodMetadata[].patchPolicy": {Cases: []verdicts.Case{{Value: `"Add"`, With: `{"patchPodMetadata":[{"annotations":{"a":"b"}}]}`, Want: "spec.patchPodMetadata[0].patchPolicy: Unsupported value: \"Add\""}}},
	})
}
