// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// RolloutStatus says how far an ImagePullJob is, by the job alone. It is over when it has a completion time, and failed if an image could
// not be pulled to a node.
func RolloutStatus(job *v1alpha1.ImagePullJob) rollout.Status {
	s := &job.Status
	switch {
	case s.CompletionTime != nil && s.Failed > 0:
		return rollout.Status{Phase: rollout.Failed, Message: fmt.Sprintf("%d out of %d nodes have not got the image: %s", s.Failed, s.Desired, s.Message)}
	case s.CompletionTime != nil:
		return rollout.Status{Phase: rollout.Complete}
	case s.StartTime == nil:
		return rollout.Status{Phase: rollout.Unobserved}
	}
	return rollout.Status{Phase: rollout.InProgress, Message: fmt.Sprintf("%d out of %d nodes have got the image", s.Succeeded, s.Desired)}
}
