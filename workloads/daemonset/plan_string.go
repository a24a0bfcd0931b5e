// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"strings"
)

// String lists what the plan does and what waits, one decision a line.
func (p Plan) String() string {
	lines := []string{p.Plan.String()}
	for _, w := range p.WaitingNodes {
		lines = append(lines, w.Line())
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d nodes desired, %d current, %d ready, %d updated, %d available, %d misscheduled",
			s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberAvailable, s.NumberMisscheduled))
	}
	return strings.Join(lines, "\n")
}
