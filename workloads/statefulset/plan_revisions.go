package statefulset

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// revisionLabel is the label that holds a pod's revision.
const revisionLabel = appsv1.ControllerRevisionHashLabelKey

// planRevisions finds the revision of the present template, or makes it, and
// the one that pods come from. Revisions without a controller are taken over.
func (p *planner) planRevisions() {
	kind := v1beta1.SchemeGroupVersion.WithKind("StatefulSet")
	wanted, err := revision.New(p.Set, kind, &p.Set.Spec.Template, revision.NextNumber(p.Revisions), p.Set.Status.CollisionCount)
	if err != nil {
		p.problem(v1beta1.StatefulSetConditionFailedUpdatePod, fmt.Errorf("spec.template: %w", err))
		return
	}
	if p.plan.Revisions, err = revision.Plan(p.Revisions, wanted, p.Set.Status.CurrentRevision, p.podRevisions); err != nil {
		p.problem(v1beta1.StatefulSetConditionFailedUpdatePod, err)
		return
	}
	if p.Set.DeletionTimestamp != nil { // (STS-26)
		p.plan.Revisions.Create, p.plan.Revisions.Raise = nil, nil
		return
	}
	for _, r := range p.Revisions {
		if metav1.GetControllerOfNoCopy(r) == nil && r.DeletionTimestamp == nil {
			p.plan.Revisions.Adopt = append(p.plan.Revisions.Adopt, r)
		}
	}
}

// settledCurrent is the current revision as the status names it from now on. The
// pass that ends an update is the last one for which there is an event, so what
// is to be done after an update is done in it.
func (p *planner) settledCurrent() *appsv1.ControllerRevision {
	if s := p.plan.Status; s != nil && s.CurrentRevision == p.plan.Revisions.Update.Name {
		return p.plan.Revisions.Update
	}
	return p.plan.Revisions.Current
}

// podRevisions yields the values of the revision labels of all pods.
func (p *planner) podRevisions(yield func(string) bool) {
	for _, pod := range p.Snapshot.Pods {
		if !yield(pod.Labels[revisionLabel]) {
			return
		}
	}
}

// planHistory drops the revisions beyond the history limit that nothing uses.
func (p *planner) planHistory() {
	kept := p.plan.Revisions
	kept.Current = p.settledCurrent()
	kept.Prune(p.Revisions, p.Set.Spec.RevisionHistoryLimit, func(yield func(string) bool) {
		for _, pod := range slices.Concat(p.pods, p.others) {
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
	p.plan.Revisions.Delete = kept.Delete
}

// revisionLabelOf is the value that the revision label has on the pods of a
// revision: its name, or where that is too long for a label value, its hash.
func revisionLabelOf(r *appsv1.ControllerRevision) string {
	const maxLabelValue = 63
	if len(r.Name) > maxLabelValue {
		return revision.ShortHash(r.Name)
	}
	return r.Name
}
