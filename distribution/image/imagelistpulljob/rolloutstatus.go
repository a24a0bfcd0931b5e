// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"fmt"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// RolloutStatus says how far an ImageListPullJob is, by the job alone. It is over when it has a completion time, and failed if some node
// has not got one of the images.
func RolloutStatus(job *v1alpha1.ImageListPullJob) rollout.Status {
	s := &job.Status
	switch {
	case s.CompletionTime != nil && s.Succeeded < s.Desired:
		return rollout.Status{Phase: rollout.Failed, Message: fmt.Sprintf("%d out of %d images have not been pulled to all nodes: status.failedImageStatuses names them", s.Desired-s.Succeeded, s.Desired)}
	case s.CompletionTime != nil:
		return rollout.Status{Phase: rollout.Complete}
	case s.StartTime == nil:
		return rollout.Status{Phase: rollout.Unobserved}
	}
	return rollout.Status{Phase: rollout.InProgress, Message: fmt.Sprintf("%d out of %d images have been pulled to all nodes", s.Succeeded, s.Desired)}
}
