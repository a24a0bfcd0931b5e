package cloneset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// revisionLabel is the label that holds a pod's revision.
const revisionLabel = appsv1.ControllerRevisionHashLabelKey

// templateHashLabel is the label that holds the short hash of a pod's revision.
const templateHashLabel = "pod-template-hash"

// planRevisions finds the revision of the present template, or makes it, and
// the one that pods come from. (CR3 to CR5)
func (p *planner) planRevisions() {
	kind := v1alpha1.SchemeGroupVersion.WithKind("CloneSet")
	wanted, err := revision.New(p.Set, kind, &p.Set.Spec.Template, revision.NextNumber(p.Revisions), p.Set.Status.CollisionCount)
	if err != nil {
		p.problem(v1alpha1.CloneSetConditionFailedUpdate, fmt.Errorf("spec.template: %w", err))
		return
	}
	next, err := revision.Next(p.Revisions, wanted)
	if err != nil {
		p.problem(v1alpha1.CloneSetConditionFailedUpdate, err)
		return
	}
	switch next.Action {
	case revision.Create:
		p.plan.CreateRevision = next.Revision
	case revision.Raise:
		p.plan.RaiseRevision, p.plan.RaiseTo = next.Revision, next.Revision.Revision
	}
	p.plan.UpdateRevision = next.Revision
	p.plan.CurrentRevision = next.Revision
	for _, r := range p.Revisions {
		if r.Name == p.Set.Status.CurrentRevision && r.Name != next.Revision.Name {
			p.plan.CurrentRevision = r
		}
	}
}

// planHistory drops the revisions beyond the history limit that nothing uses. (CR7)
func (p *planner) planHistory() {
	limit := int32(10)
	if p.Set.Spec.RevisionHistoryLimit != nil {
		limit = *p.Set.Spec.RevisionHistoryLimit
	}
	if len(p.Revisions) <= int(max(limit, 0)) {
		return
	}
	live := map[string]bool{
		revision.ShortHash(p.plan.CurrentRevision.Name): true,
		revision.ShortHash(p.plan.UpdateRevision.Name):  true,
	}
	for _, pod := range p.pods {
		live[revision.ShortHash(pod.Labels[revisionLabel])] = true
	}
	p.plan.DeleteRevisions = revision.Surplus(p.Revisions, func(name string) bool {
		return live[revision.ShortHash(name)]
	}, limit)
}
