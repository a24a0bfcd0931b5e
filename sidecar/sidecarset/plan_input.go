// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"errors"
	"slices"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// checkInput returns the error of a snapshot that no plan can be made of.
func (p *planner) checkInput() error {
	if p.Snapshot == nil || p.Set == nil {
		return podplan.NoWorkload(kind)
	}
	if p.Now.IsZero() {
		return podplan.ErrNoTime
	}
	s := *p.Snapshot
	p.Snapshot, p.At, p.Refusals, p.Began = &s, s.Now, s.Refused, s.HeldSince
	p.Workload = podplan.Owner{Object: s.Set, Kind: v1alpha1.SchemeGroupVersion.WithKind(kind)}
	p.useHistory()
	if nils(s.Pods) || nils(s.Revisions) {
		p.UpdateProblem(errors.New("Snapshot.Pods or Snapshot.Revisions: nil left out"))
	}
	return nil
}

// nils tells whether one of some pointers is nil.
func nils[T any](pointers []*T) bool { return slices.Contains(pointers, nil) }
