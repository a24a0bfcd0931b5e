// SPDX-License-Identifier: Apache-2.0

package spread_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (WS-31)
func TestVerdicts(t *testing.T) {
	const (
		first    = "spec.subsets[0]."
		terms    = "spec.subsets[0].preferredNodeSelectorTerms[0]."
		adaptive = `{"scheduleStrategy":{"type":"Adaptive"}}`
		needs    = "needs apiVersion, kind and name"
		unknown  = "spec.targetRef: Invalid value"
		moved    = "\nspec.targetRef: Forbidden: group, kind and name cannot be modified"
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.WorkloadSpread]{
		Valid: `
metadata: {namespace: shop, name: web}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web}
  subsets: [{name: a}, {name: b}]`,
		Create: spread.ValidateCreate, Update: spread.ValidateUpdate, Touch: `{"scheduleStrategy":{"type":"Fixed"}}`, Unasked: true,
	}, verdicts.Fields{
		"targetRef.apiVersion": {Cases: []verdicts.Case{{Value: `""`, Want: "spec.targetRef.apiVersion: Required value: " + needs, Change: "spec.targetRef.apiVersion: Required value" + moved},
			{Value: `"example.com/v1"`, Want: unknown, Change: unknown + moved}}},
		"targetRef.kind": {Cases: []verdicts.Case{{Value: `""`, Want: "spec.targetRef.kind: Required value: " + needs, Change: "spec.targetRef.kind: Required value" + moved},
			{Value: `"DaemonSet"`, Want: unknown, Change: unknown + moved}}},
		"targetRef.name": {Works: "a workload that is not there may come", Cases: []verdicts.Case{{Value: `""`, Want: "spec.targetRef.name: Required value: " + needs, Change: "spec.targetRef.name: Required value" + moved}}},
		"subsets": {Cases: []verdicts.Case{{Value: `[]`, Want: "spec.subsets: Required value: there must be at least one"}, {Value: `[{"name":"a"},{"name":"a"}]`, Want: "spec.subsets[1].name: Duplicate value: \"a\""},
			{Value: `[{"name":"a","maxReplicas":1},{"name":"b","maxReplicas":"50%"}]`, Want: "spec.subsets: Forbidden: every maxReplicas must be a number, or every one a percentage"},
			{Value: `[{"name":"a","maxReplicas":"60%"},{"name":"b","maxReplicas":"50%"}]`, Want: "spec.subsets: Forbidden: the percentages are 110% together"}}},
		"subsets[].name": {Cases: []verdicts.Case{{Value: `""`, Want: first + "name: Required value: every subset needs a name"}}},
		"subsets[].requiredNodeSelectorTerm": {Works: "an empty one requires nothing; what contradicts itself matches no node, and the pods say it", Cases: []verdicts.Case{
			{Value: `{}`}, {Value: `{"matchExpressions":[{"key":"a","operator":"Gt","values":["many"]}]}`, Want: first + "requiredNodeSelectorTerm: Invalid value"},
			{Value: `{"matchExpressions":[{"key":"not a key","operator":"Exists"}]}`, Want: first + "requiredNodeSelectorTerm: Invalid value\n" + first + "requiredNodeSelectorTerm.matchExpressions[0].key"},
			{Value: `{"matchFields":[{"key":"spec.x","operator":"In","values":["n"]}]}`, Want: first + "requiredNodeSelectorTerm.matchFields[0].key: Unsupported value: \"spec.x\"", Stays: true}}},
		"subsets[].preferredNodeSelectorTerms": {Works: "a term that is there twice has twice the weight", Cases: []verdicts.Case{
			{Value: `[{"weight":0,"preference":{}}]`, Want: terms + "weight: Invalid value: 0: must be from 1 to 100"}, {Value: `[{"weight":101,"preference":{}}]`, Want: terms + "weight: Invalid value: 101"}}},
		"subsets[].tolerations": {Cases: []verdicts.Case{
			{Value: `[{"key":"a","operator":"In","value":"b"}]`, Want: first + "tolerations[0].operator: Unsupported value: \"In\"", Stays: true},
			{Value: `[{"key":"a","value":"not valid"}]`, Want: first + "tolerations[0].value: Invalid value: \"not valid\": no taint has this value", Stays: true},
			{Value: `[{"value":"b"}]`, Want: first + "tolerations[0].operator: Invalid value: \"\": must be Exists"},
			{Value: `[{"key":"a","operator":"Exists","effect":"Sometimes"}]`, Want: first + "tolerations[0].effect: Unsupported value: \"Sometimes\""}}},
		"subsets[].maxReplicas": {Cases: []verdicts.Case{{Value: `0`}, {Value: `-1`, Want: first + "maxReplicas: Invalid value: \"-1\": must be a number such as 3, at least 0"},
			{Value: `"101%"`, Want: first + "maxReplicas: Invalid value: \"101%\""}, {Value: `"some"`, Want: first + "maxReplicas: Invalid value: \"some\""},
			{Value: `"50%"`, With: `{"targetRef":{"kind":"StatefulSet"}}`, Want: "spec.subsets: Forbidden: maxReplicas of a StatefulSet must be a number"}}},
		"subsets[].patch": {Works: "what cannot be applied makes no pods, and the condition PatchApplies says so (WS-21.1); what takes pods from the workload ValidatePatches refuses"},
		"targetFilter.selector": {Works: "an empty one, and none, select all pods; one that selects none spreads none", Cases: []verdicts.Case{{Value: `{}`},
			{Value: `{"matchExpressions":[{"key":"role","operator":"Is","values":["worker"]}]}`, Want: "spec.targetFilter.selector.matchExpressions[0].operator: Invalid value: \"Is\""},
			{Value: `{"matchLabels":{"not a key":"a"}}`, Want: "spec.targetFilter.selector.matchLabels: Invalid value: \"not a key\""}}},
		"targetFilter.replicasPathList": {Works: "an empty path adds nothing; one that leads nowhere the status tells of (WS-34)", Cases: []verdicts.Case{{Value: `[""]`},
			{Value: `["spec..replicas"]`, Want: "spec.targetFilter.replicasPathList[0]: Invalid value: \"spec..replicas\": must be names and numbers"}}},
		"scheduleStrategy.type":                               {Cases: []verdicts.Case{{Value: `"Random"`, Want: "spec.scheduleStrategy.type: Unsupported value: \"Random\""}}},
		"scheduleStrategy.adaptive.disableSimulationSchedule": {Works: "true and false both do what they say", Cases: []verdicts.Case{{Value: `true`, Want: "spec.scheduleStrategy.adaptive: Forbidden: is for the type Adaptive alone"}}},
		"scheduleStrategy.adaptive.rescheduleCriticalSeconds": {Cases: []verdicts.Case{{Value: `0`, With: adaptive},
			{Value: `-1`, With: adaptive, Want: "spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds: Invalid value: -1: must be at least 0"},
			{Value: `3601`, With: adaptive, Want: "spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds: Invalid value: 3601: must be at least 0, and at most 3600"}}},
	})
}
