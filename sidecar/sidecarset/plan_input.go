// SPDX-License-Identifier: Apache-2.0

package sidecarset

import "github.com/podwright/podwright/internal/podplan"

// checkInput returns the error of a snapshot that no plan can be made of.
func (p *planner) checkInput() error {
	if p.Snapshot == nil || p.Set == nil {
		return podplan.NoWorkload(kind)
	}
	if p.Now.IsZero() {
		return podplan.ErrNoTime
	}
	s := *p.Snapshot
	p.Snapshot, p.At, p.Refusals = &s, s.Now, s.Refused
	return nil
}
