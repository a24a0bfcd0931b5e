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
// the one that pods come from. (CS-CR3 to CS-CR5)
func (p *planner) planRevisions() {
	kind := v1alpha1.SchemeGroupVersion.WithKind("CloneSet")
	wanted, err := revision.New(p.Set, kind, &p.Set.Spec.Template, revision.NextNumber(p.Revisions), p.Set.Status.CollisionCount)
	if err != nil {
		p.problem(v1alpha1.CloneSetConditionFailedUpdate, fmt.Errorf("spec.template: %w", err))
		return
	}
	if p.plan.Revisions, err = revision.Plan(p.Revisions, wanted, p.Set.Status.CurrentRevision, p.podRevisions); err != nil {
		p.problem(v1alpha1.CloneSetConditionFailedUpdate, err)
	}
}

// podRevisions yields the values of the revision labels of all pods.
func (p *planner) podRevisions(yield func(string) bool) {
	for _, pod := range p.Snapshot.Pods {
		if !yield(pod.Labels[revisionLabel]) {
			return
		}
	}
}

// planHistory drops the revisions beyond the history limit that nothing uses. (CS-CR7)
func (p *planner) planHistory() {
	p.plan.Revisions.Prune(p.Revisions, p.Set.Spec.RevisionHistoryLimit, func(yield func(string) bool) {
		for _, pod := range p.pods {
			if !yield(pod.Labels[revisionLabel]) {
				return
			}
		}
		for i := range p.plan.Create { // made of it in this very pass
			if !yield(p.plan.Create[i].Pod.Labels[revisionLabel]) {
				return
			}
		}
	})
}
