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
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.EphemeralJob]{
		Valid: `
metadata: {namespace: shop, name: debug}
spec:
  selector: {matchLabels: {app: web}}
  template: {ephemeralContainers: [{name: debug, image: debug}]}`,
		Create: problems, Update: func(job, _ *v1alpha1.EphemeralJob) field.ErrorList { return problems(job) }, Unasked: true,
	})
}
