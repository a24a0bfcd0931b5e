// SPDX-License-Identifier: Apache-2.0

package ephemeraljob_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm. There is no webhook of EphemeralJobs: what is wrong
// is what the condition Error says. (EJ-21)
func TestVerdicts(t *testing.T) {
	problems := func(job *v1alpha1.EphemeralJob) (errs field.ErrorList) {
		for _, problem := range ephemeraljob.NewPlan(&ephemeraljob.Snapshot{Job: job, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}).Problems {
			errs = append(errs, field.Forbidden(field.NewPath(problem.Err.Error()), ""))
		}
		return errs
	}
	verdicts.Check(t, verdicts.Subject[v1alpha1.EphemeralJob]{
		Valid: `
metadata: {namespace: shop, name: debug}
spec:
  selector: {matchLabels: {app: web}}
  template: {ephemeralContainers: [{name: debug, image: debug}]}`,
		Create: problems, Update: func(job, _ *v1alpha1.EphemeralJob) field.ErrorList { return problems(job) }, Unasked: true,
	}, verdicts.Fields{
		"selector": {Works: "an empty one is all pods of the namespace, as the field has it; of one that selects none MatchedEmpty says so", Cases: []verdicts.Case{
			{Value: `{}`}, {Value: `null`, Want: "spec.selector is missing"},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: "spec.selector: "}}},
		"replicas":    {Works: "0 and less is no pod, and MatchedEmpty says so (EJ-6)"},
		"parallelism": {Works: "0 and less injects nothing, as the field has it; it may be raised"},
		"template.ephemeralContainers": {Works: "what the API server refuses the condition Refused says", Cases: []verdicts.Case{
			{Value: `[]`, Want: "spec.template.ephemeralContainers is empty"}, {Value: `[{"image":"debug"}]`, Want: "spec.template.ephemeralContainers[0] has no name"},
			{Value: `[{"name":"a"},{"name":"a"}]`, Want: "spec.template.ephemeralContainers[1]: another one is called a too"},
			{Value: `[{"name":5}]`, Want: "spec.template.ephemeralContainers cannot be read"}}},
		"paused":                  {Works: "true and false both do what they say"},
		"activeDeadlineSeconds":   {Works: "0 and less fails the job at once, and the condition JobFailed says why; one of more than a century is none", Cases: []verdicts.Case{{Value: `9223372036854775807`}}},
		"ttlSecondsAfterFinished": {Works: "0 and less deletes the job when it has finished, as the field has it"},
	})
}
