// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// RolloutStatus says how far a BroadcastJob is, by the job alone. It is complete or failed when a condition says so.
func RolloutStatus(job *v1alpha1.BroadcastJob) rollout.Status {
	s := &job.Status
	for i := range s.Conditions {
		switch c := &s.Conditions[i]; {
		case c.Status != corev1.ConditionTrue:
		case c.Type == v1alpha1.JobComplete:
			return rollout.Status{Phase: rollout.Complete}
		case c.Type == v1alpha1.JobFailed:
			return rollout.Status{Phase: rollout.Failed, Message: c.Message}
		}
	}
	if s.StartTime == nil {
		return rollout.Status{Phase: rollout.Unobserved}
	}
	return rollout.Status{Phase: rollout.InProgress, Message: fmt.Sprintf("the pods of %d out of %d nodes have ended", s.Succeeded+s.Failed, s.Desired)}
}
