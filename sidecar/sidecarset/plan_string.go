// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"strings"
)

// String lists what the plan does and what waits, one decision a line.
func (p Plan) String() string {
	lines := []string{p.Plan.String()}
	if p.CustomVersion != "" {
		lines = append(lines, fmt.Sprintf("label revision %s as custom version %s", p.Revisions.Update.Name, p.CustomVersion))
	}
	for _, w := range p.NotUpgradable {
		lines = append(lines, "cannot update "+w.String())
	}
	for _, w := range p.NotInjected {
		lines = append(lines, "not injected "+w.String())
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d pods matched, %d updated, %d ready, %d updated and ready",
			s.MatchedPods, s.UpdatedPods, s.ReadyPods, s.UpdatedReadyPods))
	}
	for _, e := range p.Events {
		lines = append(lines, fmt.Sprintf("record the event %s %s: %s", e.Type, e.Reason, e.Message))
	}
	return strings.Join(lines, "\n")
}
