// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// RolloutStatus says whether the controller keeps the present schedule of an AdvancedCronJob, by the cron job alone. It is complete
// once the controller has seen the spec: jobs come and go, and the cron job does not wait for them.
func RolloutStatus(cronJob *v1alpha1.AdvancedCronJob) rollout.Status {
	return rollout.StatusOf(cronJob.Generation, cronJob.Status.ObservedGeneration, "", rollout.Counts{})
}
