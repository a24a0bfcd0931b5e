// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"strings"
)

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	for _, d := range p.Delete {
		lines = append(lines, "delete pod "+d.Pod.Name+": "+d.Reason)
	}
	for i := range p.Create {
		lines = append(lines, "create pod "+p.Create[i].Pod.Name)
	}
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d desired, %d active, %d succeeded, %d failed", s.Desired, s.Active, s.Succeeded, s.Failed))
	}
	if p.DeleteJob {
		lines = append(lines, "delete the job")
	}
	for _, problem := range p.Problems {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}
