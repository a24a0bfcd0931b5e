// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (STS-V8)
func TestVerdicts(t *testing.T) {
	const (
		flag     = "true and false both do what they say"
		parallel = `{"podManagementPolicy":"Parallel"}`
		rolling  = "spec.updateStrategy.rollingUpdate."
		number   = `must be a number of pods of 1 or more, or a whole percentage of 1% or more`
		priority = "updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy."
		term     = `{"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"unorderedUpdate":{"priorityStrategy":{"weightPriority":[{"matchSelector":{"matchLabels":{"a":"b"}}}]}}}}}`
	)
	limit := func(path string) []verdicts.Case {
		return []verdicts.Case{{Value: `1`}, {Value: `"30%"`, With: parallel}, {Value: `2147483647`, With: parallel},
			{Value: `0`, Want: path + `: Invalid value: "0": ` + number}, {Value: `-1`, Want: path + `: Invalid value: "-1": ` + number},
			{Value: `"0%"`, With: parallel, Want: path + `: Invalid value: "0%": ` + number}, {Value: `"many"`, With: parallel, Want: path + `: Invalid value: "many": ` + number},
			{Value: `2`, Want: path + `: Invalid value: "2": must be the number 1 unless podManagementPolicy is Parallel`}}
	}
	verdicts.Check(t, verdicts.Subject[v1beta1.StatefulSet]{
		Valid: `
metadata: {namespace: shop, name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], containers: [{name: main, image: postgres}]}}`,
		Create: statefulset.ValidateCreate, Update: statefulset.ValidateUpdate, Touch: `{"replicas":7}`,
	}, verdicts.Fields{
		"replicas": {Cases: []verdicts.Case{{Value: `0`}, {Value: `-1`, Want: "spec.replicas: Invalid value: -1: must be 0 or more"},
			{Value: `2000000`, Want: "spec.replicas: Invalid value: 2000000: must be 1000000 or less"}}},
		"selector": {Cases: []verdicts.Case{
			{Value: `{}`, Want: "spec.selector: Invalid value: \"{}\": must not be empty", Change: "spec.selector: Invalid\nspec.selector: Invalid value: \"<none>\": the selector is immutable"},
			{Value: `{"matchLabels":{"app":"other"}}`, Want: "spec.template.metadata.labels: Invalid", Change: "spec.template.metadata.labels: Invalid\nspec.selector: Invalid"}}},
		"template": {Works: "what is wrong with pods the API server says, as workloads.DryRun asks it", Cases: []verdicts.Case{
			{Value: `{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[]}}`, Want: "spec.template.spec.containers: Required value"}}},
		"volumeClaimTemplates": {Cases: []verdicts.Case{{Value: `[{"metadata":{"name":""}}]`, Want: "spec.volumeClaimTemplates[0].metadata.name: Required value"}}},
		"serviceName": {Cases: []verdicts.Case{{Value: `""`, Change: "spec.serviceName: Invalid value: \"\": the service name is immutable"},
			{Value: `"my_db"`, Want: "spec.serviceName: Invalid value: \"my_db\": no pod can have this subdomain: a lowercase RFC 1123 label", Change: "spec.serviceName: Invalid value: \"my_db\": the service name is immutable\nspec.serviceName: Invalid value: \"my_db\": no pod", Stays: true},
			{Value: `"db.shop"`, Want: "spec.serviceName: Invalid value: \"db.shop\": no pod can have this subdomain", Change: "spec.serviceName: Invalid value: \"db.shop\": the service name is immutable\nspec.serviceName: Invalid value: \"db.shop\": no pod", Stays: true}}},
		"podManagementPolicy": {Cases: []verdicts.Case{{Value: `"Sometimes"`, Want: "spec.podManagementPolicy: Unsupported value: \"Sometimes\"", Change: "spec.podManagementPolicy: Unsupported\nspec.podManagementPolicy: Invalid value: \"Sometimes\": the policy is immutable"}}},
		"updateStrategy.type": {Cases: []verdicts.Case{{Value: `"ReCreate"`, Want: "spec.updateStrategy.type: Unsupported value: \"ReCreate\""},
			{Value: `"OnDelete"`, With: `{"updateStrategy":{"rollingUpdate":{"partition":1}}}`, Want: "spec.updateStrategy.rollingUpdate: Forbidden: must be absent with the type OnDelete"}}},
		"updateStrategy.rollingUpdate.partition":       {Cases: []verdicts.Case{{Value: `2147483647`}, {Value: `-1`, Want: rolling + "partition: Invalid value: -1: must be 0 or more"}}},
		"updateStrategy.rollingUpdate.maxUnavailable":  {Cases: limit(rolling + "maxUnavailable")},
		"updateStrategy.rollingUpdate.podUpdatePolicy": {Cases: []verdicts.Case{{Value: `"InPlaceIfPossible"`}, {Value: `"InPlace"`, Want: rolling + "podUpdatePolicy: Unsupported value: \"InPlace\""}}},
		"updateStrategy.rollingUpdate.paused":          {Works: flag},
		priority + "orderPriority": {Cases: []verdicts.Case{{Value: `[{"orderedKey":"a"}]`, Want: rolling + "unorderedUpdate: Forbidden: needs podManagementPolicy Parallel, and it is OrderedReady"},
			{Value: `[{"orderedKey":"a"}]`, With: term, Want: rolling + "unorderedUpdate.priorityStrategy: Forbidden: weightPriority and orderPriority are both set"}}},
		priority + "orderPriority[].orderedKey": {Works: "by a key that no pod has, all are equal", Cases: []verdicts.Case{
			{Value: `""`, With: parallel, Want: rolling + "unorderedUpdate.priorityStrategy.orderPriority[0].orderedKey: Required value"}}},
		priority + "weightPriority":                                             {Works: "a term that is there twice has twice the weight"},
		priority + "weightPriority[].weight":                                    {Cases: []verdicts.Case{{Value: `101`, With: term, Want: rolling + "unorderedUpdate.priorityStrategy.weightPriority[0].weight: Invalid value: 101"}}},
		priority + "weightPriority[].matchSelector":                             {Cases: []verdicts.Case{{Value: `{}`, With: term, Want: rolling + "unorderedUpdate.priorityStrategy.weightPriority[0].matchSelector: Required value"}}},
		"updateStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds": {Works: "below 0 it is read as 0; a long one is waited for, and the plan says so"},
		"updateStrategy.rollingUpdate.minReadySeconds": {Cases: []verdicts.Case{{Value: `-1`, Want: rolling + "minReadySeconds: Invalid value: -1: must be between 0 and 300"},
			{Value: `301`, Want: rolling + "minReadySeconds: Invalid value: 301: must be between 0 and 300"}}},
		"revisionHistoryLimit": {Works: "below 0 it is read as 0"},
		"reserveOrdinals": {Works: "an ordinal that no pod would have is reserved for later", Cases: []verdicts.Case{
			{Value: `[-1]`, Want: "spec.reserveOrdinals[0]: Invalid value: -1: must be 0 or more"}, {Value: `[1,1]`, Want: "spec.reserveOrdinals[1]: Duplicate value: 1"}, {Value: `[2147483647]`},
			{Value: `["5-7", "6-9", 6]`}, {Value: `["5"]`, Want: "spec.reserveOrdinals[0]: Invalid value: \"5\": must be a number, or a range of numbers"},
			{Value: `["7-5"]`, Want: "spec.reserveOrdinals[0]: Invalid value: \"7-5\": must be a number, or a range of numbers"},
			{Value: `["-1-5"]`, Want: "spec.reserveOrdinals[0]: Invalid value: \"-1-5\": must be a number, or a range of numbers"}}},
		"ordinals": {Works: "without the feature it is ignored, as with OpenKruise", Cases: []verdicts.Case{{Value: `{"start":5}`},
			{Value: `{"start":-1}`, Want: "spec.ordinals.start: Invalid value: -1: must be 0 or more"}}},
		"volumeClaimUpdateStrategy.type": {Cases: []verdicts.Case{{Value: `"OnDelete"`}, {Value: `"OnPodRollingUpdate"`},
			{Value: `"Always"`, Want: "spec.volumeClaimUpdateStrategy.type: Unsupported value: \"Always\"", Stays: true}}},
		"lifecycle.preDelete.labelsHandler":                {Cases: verdicts.HookLabels("preDelete")},
		"lifecycle.preDelete.finalizersHandler":            {Cases: verdicts.HookFinalizers("preDelete")},
		"lifecycle.preDelete.markPodNotReady":              {Works: flag},
		"lifecycle.inPlaceUpdate.labelsHandler":            {Cases: verdicts.HookLabels("inPlaceUpdate")},
		"lifecycle.inPlaceUpdate.finalizersHandler":        {Cases: verdicts.HookFinalizers("inPlaceUpdate")},
		"lifecycle.inPlaceUpdate.markPodNotReady":          {Works: flag},
		"lifecycle.preNormal.labelsHandler":                {Works: "the hook has no effect, as with OpenKruise: it holds no pod"},
		"lifecycle.preNormal.finalizersHandler":            {Works: "the hook has no effect"},
		"lifecycle.preNormal.markPodNotReady":              {Works: "the hook has no effect"},
		"scaleStrategy.maxUnavailable":                     {Cases: limit("spec.scaleStrategy.maxUnavailable")},
		"persistentVolumeClaimRetentionPolicy.whenDeleted": {Cases: []verdicts.Case{{Value: `"Drop"`, Want: "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: \"Drop\""}}},
		"persistentVolumeClaimRetentionPolicy.whenScaled":  {Cases: []verdicts.Case{{Value: `"Drop"`, Want: "spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: \"Drop\""}}},
	})
}

// The API server takes no pod whose name is no label and no name of a host. (STS-V8)
func TestNamesOfPods(t *testing.T) {
	for name, right := range map[string]bool{"": true, "db": true, strings.Repeat("a", 61): true, strings.Repeat("a", 62): false, "my.db": false, "my_db": false} {
		set := validation.Demo(t)
		set.Name = name
		errs := statefulset.ValidateCreate(set)
		if (len(errs) == 0) != right || !right && (errs[0].Field != "metadata.name" || errs[0].BadValue != name) {
			t.Errorf("%q: %v", name, errs)
		}
		if errs := statefulset.ValidateUpdate(set, validation.Demo(t, "replicas", `7`)); len(errs) > 0 {
			t.Errorf("%q, which is stored: %v", name, errs)
		}
	}
}
