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
	const flag = "true and false both do what they say"
	number := func(path string) []verdicts.Case {
		const percentage = ` must be a number such as 3 or a whole percentage such as "30%"`
		return []verdicts.Case{
			{Value: `"half"`, Want: path + `: Invalid value: "half":` + percentage}, {Value: `"1.5%"`, Want: path + `: Invalid value: "1.5%":` + percentage}}
	}
	verdicts.Check(t, verdicts.Subject[v1alpha1.CloneSet]{Valid: valid, Create: cloneset.ValidateCreate, Update: cloneset.ValidateUpdate, Touch: `{"minReadySeconds":7}`}, verdicts.Fields{
		"replicas": {Cases: []verdicts.Case{{Value: `0`}, {Value: `-1`, Want: "spec.replicas: Invalid value: -1: must be 0 or more"}}},
		"selector": {Cases: []verdicts.Case{
			{Value: `{}`, Want: "spec.selector: Invalid value: \"{}\": must not be empty: it would select every pod of the namespace", Change: "spec.selector: Invalid value: \"{}\"\nspec.selector: Invalid value: \"<none>\": the selector is immutable"},
			{Value: `{"matchLabels":{"app":"other"}}`, Want: "spec.template.metadata.labels: Invalid value: \"app=web\": must match spec.selector", Change: "spec.template.metadata.labels: Invalid\nspec.selector: Invalid value: \"app=other\": the selector is immutable"},
			{Value: `{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]}`, Want: "spec.template.metadata.labels: Invalid", Change: "spec.template.metadata.labels: Invalid\nspec.selector: Invalid"},
		}},
		"template": {Works: "what is wrong with pods the API server says, as workloads.DryRun asks it", Cases: []verdicts.Case{
			{Value: `{"metadata":{"labels":{"app":"web"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"nginx"}]}}`, Want: "spec.template.spec.restartPolicy: Unsupported value: \"Never\""},
			{Value: `{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[]}}`, Want: "spec.template.spec.containers: Required value"},
		}},
		"volumeClaimTemplates": {Cases: []verdicts.Case{{Value: `[{"metadata":{"name":"a.b"}}]`, Want: "spec.volumeClaimTemplates[0].metadata.name: Invalid value: \"a.b\""},
			{Value: `[{"metadata":{"name":"a"}},{"metadata":{"name":"a"}}]`, Want: "spec.volumeClaimTemplates[1].metadata.name: Duplicate value: \"a\""}}},
		"scaleStrategy.podsToDelete": {Works: "that the pods are there, and are its own, ValidatePodsToDelete checks", Cases: []verdicts.Case{
			{Value: `["a","a"]`, Want: "spec.scaleStrategy.podsToDelete[1]: Duplicate value: \"a\""}}},
		"scaleStrategy.maxUnavailable": {Cases: []verdicts.Case{
			{Value: `0`}, // holds back all creation, as a user may want for a while: the event ScaleUpLimited says so
			{Value: `"10%"`}, {Value: `"30"`},
			{Value: `"many"`, Want: "spec.scaleStrategy.maxUnavailable: Invalid value: \"many\": must be a number such as 3", Stays: true},
			{Value: `-1`, Want: "spec.scaleStrategy.maxUnavailable: Invalid value: \"-1\": must be a number such as 3, at least 0", Stays: true},
			{Value: `"-5%"`, Want: "spec.scaleStrategy.maxUnavailable: Invalid value: \"-5%\"", Stays: true},
		}},
		"scaleStrategy.disablePVCReuse": {Works: flag},
		"updateStrategy.type":           {Cases: []verdicts.Case{{Value: `"Recreate"`, Want: "spec.updateStrategy.type: Unsupported value: \"Recreate\""}}},
		"updateStrategy.partition": {Cases: []verdicts.Case{
			{Value: `2147483647`}, {Value: `"150%"`}, // all pods stay, also those that are added: a canary that begins with none
			{Value: `-1`, Want: "spec.updateStrategy.partition: Invalid value: \"-1\": must be 0 or more"},
			{Value: `"50"`, Want: "spec.updateStrategy.partition: Invalid value: \"50\": must be a number such as 3 or a percentage"},
		}},
		"updateStrategy.maxUnavailable": {Cases: append(number("spec.updateStrategy.maxUnavailable"),
			verdicts.Case{Value: `0`, Want: "spec.updateStrategy.maxUnavailable: Invalid value: \"0\": must not be 0 while maxSurge is 0: no pod could ever be updated"},
			verdicts.Case{Value: `-1`, Want: "spec.updateStrategy.maxUnavailable: Invalid value: \"-1\": must not be 0"},
			verdicts.Case{Value: `-1`, With: `{"updateStrategy":{"maxSurge":1}}`}, // is read as 0, which works then
			verdicts.Case{Value: `"200%"`})},
		"updateStrategy.maxSurge": {Cases: append(number("spec.updateStrategy.maxSurge"), verdicts.Case{Value: `-1`}, // is read as 0, the default
			verdicts.Case{Value: `2147483647`}, // no more pods than are to be updated
			verdicts.Case{Value: `1`, With: `{"updateStrategy":{"type":"InPlaceOnly"}}`, Want: "spec.updateStrategy.maxSurge: Invalid value: \"1\": must be 0 with type InPlaceOnly"})},
		"updateStrategy.paused": {Works: flag},
		"updateStrategy.priorityStrategy.orderPriority": {Cases: []verdicts.Case{{Value: `[{"orderedKey":"a"}]`, With: `{"updateStrategy":{"priorityStrategy":{"weightPriority":[{"weight":1,"matchSelector":{"matchLabels":{"a":"b"}}}]}}}`,
			Want: "spec.updateStrategy.priorityStrategy: Forbidden: weightPriority and orderPriority are both set"}}},
		"updateStrategy.priorityStrategy.orderPriority[].orderedKey": {Works: "by a key that no pod has, all are equal: the usual order stands", Cases: []verdicts.Case{
			{Value: `""`, Want: "spec.updateStrategy.priorityStrategy.orderPriority[0].orderedKey: Required value"}, {Value: `"no key"`}}},
		"updateStrategy.priorityStrategy.weightPriority": {Works: "a term that is there twice has twice the weight"},
		"updateStrategy.priorityStrategy.weightPriority[].weight": {Cases: []verdicts.Case{
			{Value: `-1`, With: matching, Want: "spec.updateStrategy.priorityStrategy.weightPriority[0].weight: Invalid value: -1: must be between 0 and 100"},
			{Value: `101`, With: matching, Want: "spec.updateStrategy.priorityStrategy.weightPriority[0].weight: Invalid value: 101"}}},
		"updateStrategy.priorityStrategy.weightPriority[].matchSelector": {Cases: []verdicts.Case{
			{Value: `{}`, Want: "spec.updateStrategy.priorityStrategy.weightPriority[0].matchSelector: Required value"},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: "spec.updateStrategy.priorityStrategy.weightPriority[0].matchSelector.matchExpressions[0].values: Required value"}}},
		"updateStrategy.scatterStrategy": {Cases: []verdicts.Case{{Value: `[{"key":"a","value":"b"},{"key":"a","value":"b"}]`, Want: "spec.updateStrategy.scatterStrategy[1]: Duplicate value: \"a=b\""}}},
		"updateStrategy.scatterStrategy[].key": {Works: "a key that no pod has spreads nothing, and the update goes on", Cases: []verdicts.Case{
			{Value: `""`, Want: "spec.updateStrategy.scatterStrategy[0].key: Required value"}}},
		"updateStrategy.scatterStrategy[].value":                  {Works: "as the key; the empty value is one that labels have"},
		"updateStrategy.inPlaceUpdateStrategy.gracePeriodSeconds": {Works: "below 0 it is read as 0; a long one is waited for, and the plan says so"},
		"revisionHistoryLimit":                                    {Works: "below 0 it is read as 0"},
		"minReadySeconds":                                         {Works: "below 0 it is read as 0"},
		"lifecycle.preDelete.labelsHandler":                       {Cases: verdicts.HookLabels("preDelete")},
		"lifecycle.preDelete.finalizersHandler":                   {Cases: verdicts.HookFinalizers("preDelete")},
		"lifecycle.preDelete.markPodNotReady":                     {Works: flag},
		"lifecycle.inPlaceUpdate.labelsHandler":                   {Cases: verdicts.HookLabels("inPlaceUpdate")},
		"lifecycle.inPlaceUpdate.finalizersHandler":               {Cases: verdicts.HookFinalizers("inPlaceUpdate")},
		"lifecycle.inPlaceUpdate.markPodNotReady":                 {Works: flag},
		"lifecycle.preNormal.labelsHandler":                       {Cases: verdicts.HookLabels("preNormal")},
		"lifecycle.preNormal.finalizersHandler":                   {Cases: verdicts.HookFinalizers("preNormal")},
		"lifecycle.preNormal.markPodNotReady":                     {Works: "it has no effect there: a new pod does not serve anyway"},
		"progressDeadlineSeconds": {Cases: []verdicts.Case{{Value: `2147483647`},
			{Value: `0`, Want: "spec.progressDeadlineSeconds: Invalid value: 0: must be 1 or more"},
			{Value: `5`, With: `{"minReadySeconds":5}`, Want: "spec.progressDeadlineSeconds: Invalid value: 5: must be 1 or more, and greater than minReadySeconds, 5"}}},
	})
}

// matching is a term that has a selector.
const matching = `{"updateStrategy":{"priorityStrategy":{"weightPriority":[{"matchSelector":{"matchLabels":{"a":"b"}}}]}}}`
