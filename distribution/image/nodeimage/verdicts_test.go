// SPDX-License-Identifier: Apache-2.0

package nodeimage_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (IMG-2.2)
func TestVerdicts(t *testing.T) {
	const (
		task = `{"images":{"a":{"tags":[{"tag":"1","createdAt":"2026-01-01T00:00:00Z","pullPolicy":{"ttlSecondsAfterFinished":60}}]}}}`
		tag  = "spec.images[a].tags[0]."
		tags = "images{}.tags[]."
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.NodeImage]{
		Valid: "metadata: {name: node-1}\nspec: {}", Create: nodeimage.ValidateCreate, Update: nodeimage.ValidateUpdate,
	}, verdicts.Fields{
		"images":                                    {Works: "more than 256 are refused, as the tests of the webhook have it; a name that is no image is reported in the status", Cases: []verdicts.Case{{Value: `{"":{"tags":[]}}`, Want: "spec.images[]: Required value: the key is the name of the image"}}},
		"images{}.pullSecrets":                      {Works: "one that is there twice is read once"},
		"images{}.pullSecrets[].namespace":          {Works: "of a Secret that is not there the agent pulls without"},
		"images{}.pullSecrets[].name":               {Works: "of a Secret that is not there the agent pulls without"},
		"images{}.pullSecrets[].mode":               {Works: "any word is kept, and changes no pull (IMG-1.16)"},
		"images{}.sandboxConfig.labels":             {Works: "they are no pod's: the runtime gets them beside the image"},
		"images{}.sandboxConfig.annotations":        {Works: "likewise"},
		"images{}.tags":                             {Cases: []verdicts.Case{{Value: `[{"tag":"1","createdAt":"2026-01-01T00:00:00Z","pullPolicy":{"ttlSecondsAfterFinished":60}},{"tag":"1","createdAt":"2026-01-01T00:00:00Z","pullPolicy":{"ttlSecondsAfterFinished":60}}]`, Want: "spec.images[a].tags[1].tag: Duplicate value: \"1\""}}},
		tags + "tag":                                {Cases: []verdicts.Case{{Value: `""`, With: task, Want: tag + "tag: Required value"}}},
		tags + "createdAt":                          {Works: "one in the past is what tasks have; its TTL counts from its end", Cases: []verdicts.Case{{Value: `null`, With: task, Want: tag + "createdAt: Required value: a task without it would be removed at once"}}},
		tags + "pullPolicy.timeoutSeconds":          {Works: "0 and less is the default (IMG-2.2)"},
		tags + "pullPolicy.backoffLimit":            {Works: "less than 0 is the default (IMG-2.2)"},
		tags + "pullPolicy.ttlSecondsAfterFinished": {Works: "below 0 it is read as 0", Cases: []verdicts.Case{{Value: `null`, With: task, Want: tag + "pullPolicy.ttlSecondsAfterFinished: Required value: otherwise the task would stay for ever"}}},
		tags + "pullPolicy.activeDeadlineSeconds":   {Works: "the controller of ImagePullJobs writes what is left of the job's: below 1 the task ends, and the status says why", Cases: []verdicts.Case{{Value: `9223372036854775807`, With: task}}},
		tags + "ownerReferences":                    {Works: "of an object that is gone the reference is removed"},
		tags + "imagePullPolicy":                    {Works: "another word than Always is read as IfNotPresent, since OpenKruise 1.9 takes any (IMG-1.14)", Cases: []verdicts.Case{{Value: `"Never"`, With: task}}},
		tags + "version":                            {Cases: []verdicts.Case{{Value: `-1`, With: task, Want: tag + "version: Invalid value: -1: must be 0 or more"}}},
	})
}
