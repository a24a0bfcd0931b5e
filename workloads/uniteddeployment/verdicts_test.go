// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (UD-26)
func TestVerdicts(t *testing.T) {
	const (
		subsets  = "spec.topology.subsets[0]."
		cloneSet = "spec.template.cloneSetTemplate.spec."
		pods     = `"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"a"}]}}`
		advanced = "spec.template.advancedStatefulSetTemplate.spec."
		native   = "spec.template.statefulSetTemplate.spec."
		changed  = "cannot be changed: remove the subset"
		one      = "spec.template: Required value: must hold exactly one of"
	)
	of := func(kind string) string {
		return `{"template":{"cloneSetTemplate":null,"` + kind + `":{"spec":{` + pods + `}}}}`
	}
	numbers := func(name string) []verdicts.Case {
		return []verdicts.Case{{Value: `0`}, {Value: `"100%"`}, {Value: `-1`, Want: subsets + name + `: Invalid value: "-1": must be 0 or more`},
			{Value: `"101%"`, Want: subsets + name + `: Invalid value: "101%"`}, {Value: `"five"`, Want: subsets + name + `: Invalid value: "five"`}}
	}
	seconds := func(name string) []verdicts.Case {
		return []verdicts.Case{{Value: `2147483647`}, {Value: `-1`, Want: "spec.topology.scheduleStrategy.adaptive." + name + ": Invalid value: -1: must be 0 or more"}}
	}
	verdicts.Check(t, verdicts.Subject[v1alpha1.UnitedDeployment]{
		Valid: `
metadata: {namespace: shop, name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template: {cloneSetTemplate: {spec: {` + pods + `}}}
  topology: {subsets: [{name: a}, {name: b}]}`,
		Create: uniteddeployment.ValidateCreate, Update: uniteddeployment.ValidateUpdate, Touch: `{"revisionHistoryLimit":7}`,
	}, verdicts.Fields{
		"replicas":                             {Cases: []verdicts.Case{{Value: `0`}, {Value: `-1`, Want: "spec.replicas: Invalid value: -1: must be 0 or more"}}},
		"selector":                             {Cases: []verdicts.Case{{Value: `{}`, Want: "spec.selector: Required value: must not be empty", Change: "spec.selector: Required value\nspec.selector: Invalid value: \"<none>\": the selector is immutable"}}},
		"template.deploymentTemplate.metadata": {Works: "labels that the API server refuses are told by the conditions"},
		"template.deploymentTemplate.spec": {Cases: []verdicts.Case{
			{Value: `{` + pods + `}`, Want: one},
			{Value: `{"replicas":3,` + pods + `}`, With: of("deploymentTemplate"), Want: "spec.template.deploymentTemplate.spec.replicas: Forbidden: must be absent"}}},
		"template.statefulSetTemplate.metadata": {Works: "as of a Deployment"},
		"template.statefulSetTemplate.spec": {Cases: []verdicts.Case{
			{Value: `{"serviceName":"a.b",` + pods + `}`, With: of("statefulSetTemplate"), Want: native + "serviceName: Invalid value: \"a.b\": no pod can have this subdomain",
				Change: native + "serviceName: Forbidden: cannot be changed\n" + native + "serviceName: Invalid", Stays: true}}},
		"template.advancedStatefulSetTemplate.metadata": {Works: "as of a Deployment"},
		"template.advancedStatefulSetTemplate.spec": {Cases: []verdicts.Case{
			{Value: `{"lifecycle":{"preDelete":{"labelsHandler":{"not a key":"x"}}},` + pods + `}`, With: of("advancedStatefulSetTemplate"),
				Want: advanced + "lifecycle.preDelete.labelsHandler[not a key]: Invalid value: \"not a key\": no pod can have this label", Stays: true},
			{Value: `{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1}},` + pods + `}`, With: of("advancedStatefulSetTemplate"), Want: advanced + "updateStrategy.rollingUpdate.partition: Forbidden: must be absent"}}},
		"template.cloneSetTemplate.metadata": {Works: "as of a Deployment"},
		"template.cloneSetTemplate.spec": {Works: "the rest is for the webhook of CloneSets; the conditions say what it refuses", Cases: []verdicts.Case{
			{Value: `{"scaleStrategy":{"maxUnavailable":"many"},` + pods + `}`, Want: cloneSet + "scaleStrategy.maxUnavailable: Invalid value: \"many\": must be a number such as 3", Stays: true},
			{Value: `{"lifecycle":{"preNormal":{"finalizersHandler":["a/b/c"]}},` + pods + `}`, Want: cloneSet + "lifecycle.preNormal.finalizersHandler[0]: Invalid value: \"a/b/c\": no pod can have this finalizer", Stays: true}}},
		"topology.subsets": {Cases: []verdicts.Case{{Value: `[{"name":"a"},{"name":"a"}]`, Want: "spec.topology.subsets[1].name: Duplicate value: \"a\""},
			{Value: `[{"name":"a","replicas":2},{"name":"b","replicas":2}]`, Want: "spec.topology.subsets: Invalid value: 4: the replicas of the subsets add up to 4"},
			{Value: `[{"name":"a","replicas":6},{"name":"b"}]`, Want: "spec.topology.subsets: Invalid value: 6: the replicas of the subsets add up to 6"}}},
		"topology.subsets[].name": {Cases: []verdicts.Case{{Value: `""`, Want: subsets + "name: Required value"}, {Value: `"A.b"`, Want: subsets + "name: Invalid value: \"A.b\""}}},
		"topology.subsets[].nodeSelectorTerm": {Works: "expressions that contradict one another match no node: no one can see it of them all, and the pods say it", Cases: []verdicts.Case{
			{Value: `{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}`, Change: subsets + "nodeSelectorTerm: Forbidden: " + changed}, // not used (UD-8.2)
			{Value: `{"matchExpressions":[{"key":"a","operator":"Gt","values":["many"]}]}`, Want: subsets + "nodeSelectorTerm.matchExpressions[0].values: Invalid value: \"many\": no node can match", Change: subsets + "nodeSelectorTerm: Forbidden: " + changed + "\n" + subsets, Stays: true},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In","values":["not valid"]}]}`, Want: subsets + "nodeSelectorTerm.matchExpressions[0].values: Invalid value: \"not valid\": no node can match", Change: subsets + "nodeSelectorTerm: Forbidden: " + changed + "\n" + subsets, Stays: true},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: subsets + "nodeSelectorTerm.matchExpressions[0].values: Required value", Change: subsets + "nodeSelectorTerm.matchExpressions[0].values: Required value\n" + subsets + "nodeSelectorTerm: Forbidden"}}},
		"topology.subsets[].tolerations": {Cases: []verdicts.Case{
			{Value: `[{"key":"a","operator":"In","value":"b"}]`, Want: subsets + "tolerations[0].operator: Unsupported value: \"In\"", Change: subsets + "tolerations: Forbidden: " + changed + "\n" + subsets + "tolerations[0].operator", Stays: true},
			{Value: `[{"key":"a","value":"not valid"}]`, Want: subsets + "tolerations[0].value: Invalid value: \"not valid\": no taint has this value", Change: subsets + "tolerations: Forbidden: " + changed + "\n" + subsets + "tolerations[0].value", Stays: true},
			{Value: `[{"value":"b"}]`, Want: subsets + "tolerations[0].operator: Invalid value: \"\": must be Exists", Change: subsets + "tolerations[0].operator: Invalid\n" + subsets + "tolerations: Forbidden"}}},
		"topology.subsets[].replicas":                                  {Cases: numbers("replicas")},
		"topology.subsets[].minReplicas":                               {Cases: append(numbers("minReplicas"), verdicts.Case{Value: `2`, With: `{"topology":{"subsets":[{"name":"a","maxReplicas":1},{"name":"b"}]}}`, Want: subsets + "minReplicas: Invalid value: \"2\": must be at most maxReplicas"})},
		"topology.subsets[].maxReplicas":                               {Cases: append(numbers("maxReplicas"), verdicts.Case{Value: `2`, With: `{"topology":{"subsets":[{"name":"a","replicas":1},{"name":"b"}]}}`, Want: subsets + "maxReplicas: Forbidden: must be absent if the subset has replicas"})},
		"topology.subsets[].patch":                                     {Works: "what the API server says of the pods the conditions tell", Cases: []verdicts.Case{{Value: `{"spec":5}`, Want: subsets + "patch: Invalid value"}}},
		"topology.scheduleStrategy.type":                               {Cases: []verdicts.Case{{Value: `"Random"`, Want: "spec.topology.scheduleStrategy.type: Unsupported value: \"Random\""}}},
		"topology.scheduleStrategy.adaptive.rescheduleCriticalSeconds": {Cases: seconds("rescheduleCriticalSeconds")},
		"topology.scheduleStrategy.adaptive.unschedulableDuration":     {Cases: seconds("unschedulableDuration")},
		"topology.scheduleStrategy.adaptive.unschedulableLastSeconds":  {Cases: seconds("unschedulableLastSeconds")},
		"topology.scheduleStrategy.adaptive.reserveUnschedulablePods":  {Works: "true and false both do what they say"},
		"updateStrategy.type":                                          {Works: "there is one, Manual, and any other word is read as that"},
		"updateStrategy.manualUpdate.partitions": {Works: "below 0 is 0, and more than all pods are all", Cases: []verdicts.Case{{Value: `{"a":-1,"b":99}`},
			{Value: `{"c":1}`, Want: "spec.updateStrategy.manualUpdate.partitions[c]: Invalid value: \"c\": must be the name of a subset"}}},
		"revisionHistoryLimit": {Works: "below 0 it is read as 0"},
	})
}
