// SPDX-License-Identifier: Apache-2.0

package imagepulljob_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (IMG-1.12)
func TestVerdicts(t *testing.T) {
	const (
		number = `: must be a number such as 3, at least 0, or a whole percentage such as "30%"`
		never  = `{"completionPolicy":{"type":"Never"}}`
		ends   = "spec.completionPolicy."
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.ImagePullJob]{
		Valid: `
metadata: {namespace: shop, name: warm}
spec: {image: "nginx:1", completionPolicy: {type: Always}}`,
		Create: imagepulljob.ValidateCreate, Update: imagepulljob.ValidateUpdate, Touch: `{"pullSecrets":["a"]}`,
	}, verdicts.Fields{
		"image":       {Cases: []verdicts.Case{{Value: `""`, Want: "spec.image: Required value: it says what to pull"}, {Value: `"not an image"`, Want: "spec.image: Invalid value: \"not an image\""}}},
		"pullSecrets": {Works: "one that is not there or cannot be is left out, and the message says so"},
		"selector.names": {Works: "a node that is not there may come", Cases: []verdicts.Case{{Value: `["a","a"]`, Want: "spec.selector.names[1]: Duplicate value: \"a\""},
			{Value: `["a"]`, With: `{"selector":{"matchLabels":{"a":"b"}}}`, Want: "spec.selector.names: Forbidden: nodes are selected by name or by label"}}},
		"selector.matchLabels":                 {Works: "labels that no node has select none, and the job says so", Cases: []verdicts.Case{{Value: `{}`}, {Value: `{"a":"not valid"}`, Want: "spec.selector.matchLabels: Invalid value: \"not valid\""}}},
		"selector.matchExpressions":            {Works: "those that contradict one another select none, and the job says so"},
		"selector.matchExpressions[].key":      {Cases: []verdicts.Case{{Value: `"not a key"`, With: `{"selector":{"matchExpressions":[{"operator":"Exists"}]}}`, Want: "spec.selector.matchExpressions[0].key: Invalid value: \"not a key\""}}},
		"selector.matchExpressions[].operator": {Cases: []verdicts.Case{{Value: `"Like"`, With: `{"selector":{"matchExpressions":[{"key":"a"}]}}`, Want: "spec.selector.matchExpressions[0].operator: Invalid value: \"Like\""}}},
		"selector.matchExpressions[].values":   {Cases: []verdicts.Case{{Value: `[]`, With: `{"selector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}}`, Want: "spec.selector.matchExpressions[0].values: Required value"}}},
		"podSelector":                          {Cases: []verdicts.Case{{Value: `{}`}, {Value: `{"matchLabels":{"a":"b"}}`, With: `{"selector":{"names":["a"]}}`, Want: "spec.podSelector: Forbidden: selector is set too"}}},
		"parallelism": {Cases: []verdicts.Case{{Value: `0`}, {Value: `"200%"`}, {Value: `2147483647`}, {Value: `-1`, Want: "spec.parallelism: Invalid value: \"-1\"" + number, Stays: true},
			{Value: `"many"`, Want: "spec.parallelism: Invalid value: \"many\"" + number, Stays: true}}},
		"pullPolicy.timeoutSeconds": {Works: "0 and less is the default, and an attempt takes an hour at most (IMG-3.7)", Cases: []verdicts.Case{{Value: `0`}, {Value: `2147483647`}}},
		"pullPolicy.backoffLimit":   {Works: "less than 0 is the default, and 20 is the largest (IMG-3.7)"},
		"completionPolicy.type":     {Cases: []verdicts.Case{{Value: `"Sometimes"`, Want: ends + "type: Unsupported value: \"Sometimes\""}}},
		"completionPolicy.activeDeadlineSeconds": {Cases: []verdicts.Case{{Value: `9223372036854775807`}, // as good as none
			{Value: `0`, Want: ends + "activeDeadlineSeconds: Invalid value: 0: must be 1 or more: the job would end before any node pulls", Stays: true},
			{Value: `-9223372036854775808`, Want: ends + "activeDeadlineSeconds: Invalid value: -9223372036854775808: must be 1 or more", Stays: true},
			{Value: `5`, With: never, Want: ends + "activeDeadlineSeconds: Forbidden: a job of the type Never goes on for ever"}}},
		"completionPolicy.ttlSecondsAfterFinished": {Works: "below 0 it is read as 0: the job is deleted when it has finished", Cases: []verdicts.Case{{Value: `-1`},
			{Value: `5`, With: never, Want: ends + "ttlSecondsAfterFinished: Forbidden: a job of the type Never is never finished"}}},
		"imagePullPolicy":           {Cases: []verdicts.Case{{Value: `"Always"`}, {Value: `"Never"`, Want: "spec.imagePullPolicy: Unsupported value: \"Never\"", Stays: true}}},
		"sandboxConfig.labels":      {Cases: []verdicts.Case{{Value: `{"not a key":"b"}`, Want: "spec.sandboxConfig.labels: Invalid value: \"not a key\""}}},
		"sandboxConfig.annotations": {Cases: []verdicts.Case{{Value: `{"not a key":"b"}`, Want: "spec.sandboxConfig.annotations: Invalid value: \"not a key\""}}},
	})
}
