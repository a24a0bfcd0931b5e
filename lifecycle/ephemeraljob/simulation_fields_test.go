// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.EphemeralJob]{Create: problems, Update: func(job, _ *v1alpha1.EphemeralJob) field.ErrorList { return problems(job) }}, simulated(&spoil{}))
}

// problems are what the plan says is wrong with a job: there is no webhook of EphemeralJobs.
func problems(job *v1alpha1.EphemeralJob) (errs field.ErrorList) {
	job = job.DeepCopy()
	job.Status, job.DeletionTimestamp = v1alpha1.EphemeralJobStatus{}, nil
	for _, problem := range NewPlan(&Snapshot{Job: job, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}).Problems {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), problem.Err.Error()))
	}
	return errs
}
