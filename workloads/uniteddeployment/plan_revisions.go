// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planRevisions finds the revision of the present template, or makes it, and the one that
// pods come from. It returns false, and reports why, if there is none. (UD-R1 to UD-R4)
func (p *planner) planRevisions() bool {
	wanted, err := p.newRevision()
	if err != nil {
		p.problem(fmt.Errorf("spec.template: %w", err))
		return false
	}
	history := p.history()
	c := &p.plan.Revisions
	for _, r := range history {
		if metav1.GetControllerOfNoCopy(r) == nil {
			c.Adopt = append(c.Adopt, r)
		}
	}
	next := revision.NextOf(history, wanted, func(r *appsv1.ControllerRevision) bool { return sameTemplate(r, wanted) })
	c.Update, c.Current = next.Revision, next.Revision
	switch next.Action {
	case revision.Create:
		c.Create = next.Revision
	case revision.Raise:
		c.Raise, c.RaiseTo = next.Revision, next.Revision.Revision
	}
	for _, r := range history {
		if r.Name == p.Set.Status.CurrentRevision && r.Name != c.Update.Name {
			c.Current = r
		}
	}
	p.revision = revisionValue(c.Update.Name)
	return true
}

// newRevision makes the revision of the present template. (UD-R1, UD-R2)
func (p *planner) newRevision() (*appsv1.ControllerRevision, error) {
	data, err := RevisionData(&p.Set.Spec.Template)
	if err != nil {
		return nil, err
	}
	hash := revision.Hash(data, p.Set.Status.CollisionCount)
	l := map[string]string{}
	if p.plan.Kind != CloneSet {
		maps.Copy(l, metadata(&p.Set.Spec.Template).Labels)
	}
	l[revision.HashLabel] = hash
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Set.Namespace, Name: revision.Name(p.Set.Name, hash), Labels: l,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(p.Set, kindOfSet)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: revision.NextNumber(p.history()),
	}, nil
}

// history returns the revisions that the UnitedDeployment controls, and those without a controller that
// hold one of its templates.
func (p *planner) history() []*appsv1.ControllerRevision {
	return slices.DeleteFunc(slices.Clone(p.Revisions), func(r *appsv1.ControllerRevision) bool {
		if r == nil || r.DeletionTimestamp != nil {
			return true
		}
		if by := metav1.GetControllerOfNoCopy(r); by != nil {
			return by.UID != p.Set.UID
		}
		template, err := templateOf(r)
		if err != nil {
			return true
		}
		_, ok := kindOf(template)
		return !ok
	})
}

// planHistory deletes the oldest revisions beyond the limit, but none that is in use: by the
// status, by a workload or by a pod. (UD-R5)
func (p *planner) planHistory(current string) {
	used := map[string]bool{current: true, p.plan.Revisions.Update.Name: true}
	for i := range p.all {
		used[p.all[i].Revision] = true
	}
	for _, pod := range p.Pods {
		used[pod.Labels[v1alpha1.SubsetRevisionLabel]] = true
	}
	live := func(name string) bool { return used[name] || used[revisionValue(name)] }
	p.plan.Revisions.Delete = revision.Surplus(p.history(), live, ptr.Deref(p.Set.Spec.RevisionHistoryLimit, revision.DefaultHistoryLimit))
}

// revisionValue is the value that the revision labels have for a revision. The full name is
// the rule; if it is too long for a label, its hash stands alone. (UD-7)
func revisionValue(name string) string {
	if len(name) > validation.LabelValueMaxLength {
		return revision.ShortHash(name)
	}
	return name
}
