// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (ACJ-20)
func TestVerdicts(t *testing.T) {
	const (
		broadcast = `{"template":{"jobTemplate":null,"broadcastJobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"a"}]}}}}}}`
		jobs      = "spec.template.broadcastJobTemplate.spec."
		pods      = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"a"}]}}`
		lists     = `{"concurrencyPolicy":"Replace","template":{"jobTemplate":null,"imageListPullJobTemplate":{"spec":{"images":["base"],"completionPolicy":{}}}}}`
		images    = "spec.template.imageListPullJobTemplate.spec."
		immutable = "spec.template: Forbidden: the template is immutable"
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.AdvancedCronJob]{
		Valid: `
metadata: {namespace: shop, name: backup}
spec:
  schedule: "0 10 * * *"
  template: {jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: backup}]}}}}}`,
		Create: cronjob.ValidateCreate, Update: cronjob.ValidateUpdate, Touch: `{"paused":true}`,
	}, verdicts.Fields{
		"schedule": {Cases: []verdicts.Case{{Value: `""`, Want: "spec.schedule: Required value"}, {Value: `"0 0 31 2 *"`, Want: "spec.schedule: Invalid value: \"0 0 31 2 *\": it never comes"},
			{Value: `"@every 1ms"`, Want: "spec.schedule: Invalid value: \"@every 1ms\": @every must be 1s or more"}, {Value: `"61 * * * *"`, Want: "spec.schedule: Invalid value: \"61 * * * *\""},
			{Value: `"0 0 29 2 *"`}, {Value: `"TZ=Mars/Phobos 0 0 * * *"`, Want: "spec.schedule: Invalid value: \"TZ=Mars/Phobos 0 0 * * *\""}}},
		"timeZone": {Cases: []verdicts.Case{{Value: `""`, Want: "spec.timeZone: Invalid value: \"\""}, {Value: `"Local"`, Want: "spec.timeZone: Invalid value: \"Local\""},
			{Value: `"Mars/Phobos"`, Want: "spec.timeZone: Invalid value: \"Mars/Phobos\""}, {Value: `"Etc/UTC"`, With: `{"schedule":"TZ=UTC 0 10 * * *"}`, Want: "spec.timeZone: Forbidden: the schedule names a time zone itself"}}},
		"startingDeadlineSeconds": {Cases: []verdicts.Case{{Value: `9223372036854775807`}, {Value: `-1`, Want: "spec.startingDeadlineSeconds: Invalid value: -1: must be 0 or more"},
			{Value: `0`, Want: "spec.startingDeadlineSeconds: Invalid value: 0: must be 1 or more: every scheduled time would be missed", Stays: true}}},
		"concurrencyPolicy":          {Cases: []verdicts.Case{{Value: `"Never"`, Want: "spec.concurrencyPolicy: Unsupported value: \"Never\""}}},
		"paused":                     {Works: "true and false both do what they say"},
		"successfulJobsHistoryLimit": {Cases: []verdicts.Case{{Value: `0`}, {Value: `-1`, Want: "spec.successfulJobsHistoryLimit: Invalid value: -1: must be 0 or more"}}},
		"failedJobsHistoryLimit":     {Cases: []verdicts.Case{{Value: `0`}, {Value: `-1`, Want: "spec.failedJobsHistoryLimit: Invalid value: -1: must be 0 or more"}}},
		"template.jobTemplate": {Works: "the rest the API server says of the jobs, and the event FailedCreate tells it", Cases: []verdicts.Case{
			{Value: `null`, Want: "spec.template: Required value: must hold jobTemplate, broadcastJobTemplate or imageListPullJobTemplate", Change: immutable},
			{Value: `{"spec":{` + pods + `}}`, With: `{"template":{"broadcastJobTemplate":{}}}`, Want: "spec.template: Invalid value: must hold one of jobTemplate, broadcastJobTemplate and imageListPullJobTemplate", Change: immutable},
			{Value: `{"spec":{"parallelism":-1,` + pods + `}}`, Want: "spec.template.jobTemplate.spec.parallelism: Invalid value: -1: must be 0 or more", Change: immutable},
			{Value: `{"spec":{"activeDeadlineSeconds":0,` + pods + `}}`, Want: "spec.template.jobTemplate.spec.activeDeadlineSeconds: Invalid value: 0: must be 1 or more: the jobs would fail before they run a pod",
				Change: "spec.template.jobTemplate.spec.activeDeadlineSeconds: Invalid\n" + immutable, Stays: true},
		}},
		"template.broadcastJobTemplate.metadata.labels":      {Works: "a BroadcastJob that they make invalid is refused, and the event FailedCreate tells it"},
		"template.broadcastJobTemplate.metadata.annotations": {Works: "likewise"},
		"template.broadcastJobTemplate.spec": {Works: "the rest is said of the jobs, and the event FailedCreate tells it", Cases: []verdicts.Case{
			{Value: `{"parallelism":"many",` + pods + `}`, With: broadcast, Want: jobs + `parallelism: Invalid value: "many": must be a number such as 3, at least 0`, Change: jobs + "parallelism: Invalid\n" + immutable, Stays: true},
			{Value: `{"completionPolicy":{"activeDeadlineSeconds":0},` + pods + `}`, With: broadcast, Want: jobs + "completionPolicy.activeDeadlineSeconds: Invalid value: 0: must be 1 or more", Change: jobs + "completionPolicy\n" + immutable, Stays: true},
			{Value: `{"completionPolicy":{"type":"Never","activeDeadlineSeconds":5},` + pods + `}`, With: broadcast, Want: jobs + "completionPolicy.type: Invalid value: \"Never\"", Change: immutable},
			{Value: `{"failurePolicy":{"restartLimit":-1},` + pods + `}`, With: broadcast, Want: jobs + "failurePolicy.restartLimit: Invalid value: -1", Change: immutable},
		}},
		"template.imageListPullJobTemplate.metadata.labels":      {Works: "as of a BroadcastJob"},
		"template.imageListPullJobTemplate.metadata.annotations": {Works: "likewise"},
		"template.imageListPullJobTemplate.spec": {Works: "the rest is said of the jobs, as ILP-2 has it", Cases: []verdicts.Case{
			{Value: `{"images":["base"],"completionPolicy":{"activeDeadlineSeconds":600}}`, With: lists},
			{Value: `{"images":[],"completionPolicy":{}}`, With: lists, Want: images + "images: Required value: it says what to pull"},
			{Value: `{"images":["base"],"completionPolicy":{"type":"Never"}}`, With: lists, Want: images + `completionPolicy.type: Unsupported value: "Never": supported values: "Always"`},
			{Value: `{"images":["base"],"completionPolicy":{"ttlSecondsAfterFinished":0}}`, With: lists, Want: images + "completionPolicy.ttlSecondsAfterFinished: Forbidden: successfulJobsHistoryLimit"},
			{Value: `{"images":["base"],"completionPolicy":{"activeDeadlineSeconds":86401}}`, With: lists, Want: images + "completionPolicy.activeDeadlineSeconds: Invalid value: 86401: must be at most 86400, a day"},
			{Value: `{"images":["base"],"completionPolicy":{"activeDeadlineSeconds":599}}`, With: lists, Want: images + "completionPolicy.activeDeadlineSeconds: Invalid value: 599: must be at least pullPolicy.timeoutSeconds, which is 600"},
			{Value: `{"images":["base"],"parallelism":"many","completionPolicy":{}}`, With: lists, Want: images + `parallelism: Invalid value: "many"`, Stays: true},
		}},
	})
}
