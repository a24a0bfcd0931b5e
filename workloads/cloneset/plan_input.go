// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"github.com/podwright/podwright/internal/podplan"
)

// checkInput returns the error of a snapshot that no plan can be made of. It
// leaves out what does not belong to the CloneSet, and reports what should not be there. (CS-1)
func (p *planner) checkInput() error {
	if p.Snapshot == nil || p.Set == nil {
		return podplan.NoWorkload("CloneSet")
	}
	if p.Now.IsZero() {
		return podplan.ErrNoTime
	}
	s := *p.Snapshot
	p.Snapshot, p.Workload, p.At, p.Refusals, p.Began = &s, p.workload(), s.Now, s.Refused, s.HeldSince
	const owned = "that name the CloneSet as an owner"
	s.Pods = podplan.Controlled(&p.Planner, s.Pods, "Snapshot.Pods", owned)
	s.Claims = podplan.Controlled(&p.Planner, s.Claims, "Snapshot.Claims", owned)
	s.Revisions = p.UseHistory(s.Revisions, owned)
	return nil
}
