// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"fmt"
	"strings"
)

// String says what the plan does, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	for _, job := range p.Delete {
		lines = append(lines, "delete ImagePullJob "+job.Name)
	}
	for _, job := range p.Create {
		lines = append(lines, "create ImagePullJob "+job.Name+" for image "+job.Spec.Image)
	}
	for _, job := range p.Keep {
		lines = append(lines, "keep ImagePullJob "+job.Name+" when it is over")
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d desired, %d active, %d completed, %d succeeded", s.Desired, s.Active, s.Completed, s.Succeeded))
	}
	if p.DeleteJob {
		lines = append(lines, "delete the job")
	}
	return strings.Join(lines, "\n")
}
