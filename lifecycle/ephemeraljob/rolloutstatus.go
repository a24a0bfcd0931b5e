// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// RolloutStatus says how far an EphemeralJob is, by the job alone. It is over when its containers have ended in all of its
// pods. It has failed if one of them has, if the job has run out of time, or if its spec has an error.
func RolloutStatus(job *v1alpha1.EphemeralJob) rollout.Status {
	s := &job.Status
	switch {
	case s.Phase == v1alpha1.EphemeralJobSucceeded:
		return rollout.Status{Phase: rollout.Complete}
	case s.Phase == v1alpha1.EphemeralJobFailed:
		return rollout.Status{Phase: rollout.Failed, Message: message(s, v1alpha1.EphemeralJobConditionFailed)}
	case s.StartTime == nil:
		return rollout.Status{Phase: rollout.Unobserved}
	case s.Phase == v1alpha1.EphemeralJobError:
		return rollout.Status{Phase: rollout.Failed, Message: message(s, v1alpha1.EphemeralJobConditionError)}
	}
	return rollout.Status{Phase: rollout.InProgress, Message: fmt.Sprintf("the containers of %d out of %d pods have ended", s.Succeeded+s.Failed, s.Matches)}
}

// message is that of a condition, or its type.
func message(s *v1alpha1.EphemeralJobStatus, of v1alpha1.EphemeralJobConditionType) string {
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == of && c.Message != "" {
			return c.Message
		}
	}
	return string(of)
}
