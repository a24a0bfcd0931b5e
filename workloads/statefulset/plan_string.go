// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
)

// String lists what the plan does and what waits, one decision a line.
func (p Plan) String() string {
	lines := []string{p.Plan.String()}
	for _, c := range p.ResizeClaims {
		lines = append(lines, c.String())
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d replicas, %d ready, %d available, %d updated",
			s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReplicas))
	}
	return strings.Join(lines, "\n")
}
