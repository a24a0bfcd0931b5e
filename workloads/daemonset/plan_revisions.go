// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"bytes"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podplan"
)

// planRevisions finds the revision of the present template, or makes it. It returns
// false, and reports why, if there is none. (DS-CR1 to DS-CR5)
func (p *planner) planRevisions() bool {
	if !p.PlanRevisions(podplan.RevisionLabels(p.Snapshot.Pods)) {
		return false
	}
	r := &p.plan.Revisions
	if c := r.Create; c != nil { // a DaemonSet's revision has its hash in another label than other kinds' (DS-CR2)
		c.Labels[podplan.RevisionLabel] = c.Labels[revision.HashLabel]
		delete(c.Labels, revision.HashLabel)
	}
	for _, other := range p.duplicates() {
		if p.equal == nil {
			p.equal = map[string]bool{}
		}
		p.equal[other.Name], p.equal[revision.ShortHash(other.Name)] = true, true
		if r.Current != nil && r.Current.Name == other.Name {
			r.Current = r.Update
		}
	}
	return true
}

// duplicates are the revisions that hold the present template too. (DS-CR5)
func (p *planner) duplicates() (duplicates []*appsv1.ControllerRevision) {
	update := p.plan.Revisions.Update
	for _, r := range p.History {
		if r.Name != update.Name && bytes.Equal(r.Data.Raw, update.Data.Raw) && len(r.Data.Raw) > 0 {
			duplicates = append(duplicates, r)
		}
	}
	return duplicates
}

// planHistory drops revisions that no pod has: duplicates at once, others beyond the
// limit. (DS-CR5, DS-CR6)
func (p *planner) planHistory() {
	p.PlanHistory(p.Set.Spec.RevisionHistoryLimit, p.settledCurrent(), p.allPods)
	if p.equal == nil {
		return
	}
	used := map[string]bool{}
	for pod := range p.allPods {
		used[revision.ShortHash(pod.Labels[podplan.RevisionLabel])] = true
	}
	deleted := &p.plan.Revisions.Delete
	for _, r := range p.duplicates() {
		if !used[revision.ShortHash(r.Name)] && !slices.Contains(*deleted, r) {
			*deleted = append(*deleted, r)
		}
	}
}

// settledCurrent is the current revision as the status names it from now on.
func (p *planner) settledCurrent() *appsv1.ControllerRevision {
	if s := p.plan.Status; s != nil && s.CurrentRevision == p.plan.Revisions.Update.Name {
		return p.plan.Revisions.Update
	}
	return p.plan.Revisions.Current
}
