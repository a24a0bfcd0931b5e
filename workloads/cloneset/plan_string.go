// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"strings"
)

// String lists what the plan does and what waits, one decision a line.
func (p Plan) String() string {
	lines := []string{p.Plan.String()}
	for _, claim := range p.DeleteClaims {
		lines = append(lines, "delete claim "+claim.Name)
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d replicas, %d ready, %d available, %d updated",
			s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReplicas))
	}
	if p.PrunePodsToDelete {
		lines = append(lines, "set podsToDelete: "+strings.Join(p.PodsToDelete, " "))
	}
	return strings.Join(lines, "\n")
}
