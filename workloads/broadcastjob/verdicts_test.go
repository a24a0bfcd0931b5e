// SPDX-License-Identifier: Apache-2.0

package broadcastjob_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (BJ-V8)
func TestVerdicts(t *testing.T) {
	const (
		number = `: must be a number such as 3, at least 0, or a whole percentage such as "30%"`
		ends   = "spec.completionPolicy."
		never  = `{"completionPolicy":{"type":"Never"}}`
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.BroadcastJob]{
		Valid: `
metadata: {namespace: shop, name: prune}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: prune}]}}`,
		Create: broadcastjob.ValidateCreate, Update: broadcastjob.ValidateUpdate, Touch: `{"paused":true}`,
	}, verdicts.Fields{
		"parallelism": {Cases: []verdicts.Case{
			{Value: `0`}, {Value: `"0%"`}, // a user may raise it; the plan says that it holds back all pods
			{Value: `"200%"`}, {Value: `"5"`}, {Value: `2147483647`},
			{Value: `-1`, Want: `spec.parallelism: Invalid value: "-1"` + number, Stays: true},
			{Value: `"-1%"`, Want: `spec.parallelism: Invalid value: "-1%"` + number, Stays: true},
			{Value: `"many"`, Want: `spec.parallelism: Invalid value: "many"` + number, Stays: true}}},
		"template": {Works: "what is wrong with pods the API server says; one that fits no node waits for one", Cases: []verdicts.Case{
			{Value: `{"spec":{"restartPolicy":"Always","containers":[{"name":"main","image":"a"}]}}`, Want: "spec.template.spec.restartPolicy: Unsupported value: \"Always\""},
			{Value: `{"spec":{"containers":[{"name":"main","image":"a"}]}}`, Want: "spec.template.spec.restartPolicy: Required value"},
			{Value: `{"metadata":{"labels":{"broadcastjob-name":"mine"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"a"}]}}`, Want: "spec.template.metadata.labels[broadcastjob-name]: Forbidden: the controller sets it on the pods"}}},
		"completionPolicy.type": {Works: "what is not Never acts as Always, which the plan says"},
		"completionPolicy.activeDeadlineSeconds": {Cases: []verdicts.Case{
			{Value: `9223372036854775807`}, // as good as none, and no overflow (BJ-10)
			{Value: `-1`, Want: ends + "activeDeadlineSeconds: Invalid value: -1: must be 0 or more"},
			{Value: `0`, Want: ends + "activeDeadlineSeconds: Invalid value: 0: must be 1 or more: the job would fail before it runs a pod", Stays: true},
			{Value: `5`, With: never, Want: ends + "activeDeadlineSeconds: Forbidden: a job of the type Never goes on for ever"}}},
		"completionPolicy.ttlSecondsAfterFinished": {Cases: []verdicts.Case{{Value: `0`}, {Value: `-1`, Want: ends + "ttlSecondsAfterFinished: Invalid value: -1: must be 0 or more"},
			{Value: `5`, With: never, Want: ends + "ttlSecondsAfterFinished: Forbidden: a job of the type Never is never finished"}}},
		"paused":                     {Works: "true and false both do what they say"},
		"failurePolicy.type":         {Works: "what is unknown acts as Continue, which the job says where a pod has failed"},
		"failurePolicy.restartLimit": {Cases: []verdicts.Case{{Value: `-1`, Want: "spec.failurePolicy.restartLimit: Invalid value: -1: must be 0 or more"}}},
	})
}
