// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"

	"github.com/podwright/podwright/inplace/rollout"
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

// readSpec checks and computes what the spec says.
func (p *planner) readSpec() (err error) {
	if err = p.ReadSelector(); err != nil {
		return err
	}
	strategy, l := &p.Set.Spec.UpdateStrategy, &p.limits
	l.replicas = p.replicas()
	if l.replicas < 0 {
		return fmt.Errorf("spec.replicas: found %d, want 0 or more", l.replicas)
	}
	if l.partition, err = rollout.Partition(strategy.Partition, l.replicas); err != nil {
		return fmt.Errorf("spec.updateStrategy.%w", err)
	}
	if l.maxSurge, err = rollout.MaxSurge(strategy.MaxSurge, l.replicas); err != nil {
		return fmt.Errorf("spec.updateStrategy.%w", err)
	}
	if strategy.Paused && p.Features.PauseWithoutSurge { // (CS-42)
		l.maxSurge = 0
	}
	if l.maxUnavailable, err = rollout.MaxUnavailable(strategy.MaxUnavailable, l.replicas, l.maxSurge); err != nil {
		return fmt.Errorf("spec.updateStrategy.%w", err)
	}
	if l.scaleMaxUnavailable, err = rollout.ScaleMaxUnavailable(p.Set.Spec.ScaleStrategy.MaxUnavailable, l.replicas); err != nil {
		return fmt.Errorf("spec.scaleStrategy.%w", err)
	}
	return nil
}
