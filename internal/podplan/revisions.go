// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"iter"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
)

// RevisionLabel is the label that holds a pod's revision.
const RevisionLabel = appsv1.ControllerRevisionHashLabelKey

// TemplateHashLabel is the label that holds the short hash of a pod's revision.
const TemplateHashLabel = "pod-template-hash"

// PlanRevisions finds the revision of the present template, or makes it, and
// the one that pods come from, by their revision labels. It returns false, and reports why, if there is
// none. A workload that is being deleted writes none. (CS-CR3 to CS-CR5)
func (p *Planner) PlanRevisions(podLabels iter.Seq[string]) bool {
	w := &p.Workload
	wanted, err := revision.New(w.Object, w.Kind, w.Template, revision.NextNumber(p.History), w.CollisionCount)
	if err != nil {
		p.Unreadable = fmt.Errorf("spec.template: %w", err)
		p.UpdateProblem(p.Unreadable)
		return false
	}
	for key, value := range w.RevisionAnnotations {
		metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, key, value)
	}
	if p.plan.Revisions, err = revision.Plan(p.History, wanted, w.CurrentRevision, podLabels); err != nil {
		p.UpdateProblem(err)
	}
	if raised := p.plan.Revisions.Raise; raised != nil { // a copy
		for key, value := range w.RevisionAnnotations {
			metav1.SetMetaDataAnnotation(&raised.ObjectMeta, key, value)
		}
		p.plan.Revisions.Annotate = w.RevisionAnnotations
	}
	p.plan.Revisions.Refused = p.Refusals.Revision
	p.UpdateProblem(p.Refusals.Revision)
	if w.Object.GetDeletionTimestamp() != nil || p.Refusals.Revision != nil {
		p.plan.Revisions.Create, p.plan.Revisions.Raise = nil, nil
	}
	p.wantedSince = p.revisionSince()
	return p.plan.Revisions.Update != nil
}

// NoRevision is why pods are not updated if the revision of the present template cannot be written. (CT-9)
func (p *Planner) NoRevision() *rollout.Reason {
	return &rollout.Reason{Rule: rollout.RuleRevision, Message: p.Refusals.Revision.Error()}
}

// RevisionLabels yields the values of the revision labels of pods, those of neighbours once.
func RevisionLabels(pods []*corev1.Pod) iter.Seq[string] {
	return func(yield func(string) bool) {
		last := ""
		for i, pod := range pods {
			label := pod.Labels[RevisionLabel]
			if i > 0 && label == last {
				continue
			}
			if last = label; !yield(label) {
				return
			}
		}
	}
}

// PlanHistory drops the unused revisions beyond the history limit. A revision is in use if one of the pods has it, or one that
// this plan creates. The one that the status names is in use too: that is current from now on. (CS-CR7)
func (p *Planner) PlanHistory(limit *int32, current *appsv1.ControllerRevision, pods iter.Seq[*corev1.Pod]) {
	kept := p.plan.Revisions
	kept.Current = current
	kept.Prune(p.History, limit, func(yield func(string) bool) {
		for pod := range pods {
			if !yield(pod.Labels[RevisionLabel]) || !yield(inplace.PreviousRevision(pod)) {
				return
			}
		}
		for i := range p.plan.Create {
			if !yield(p.plan.Create[i].Pod.Labels[RevisionLabel]) {
				return
			}
		}
	})
	p.plan.Revisions.Delete = kept.Delete
}

// RevisionValue is the value that the revision label has on the pods of a
// revision. The full name is the rule; if it is too long for a label value, its
// hash stands alone.
func (p *Planner) RevisionValue(name string) string {
	if p.Workload.ShortHash || len(name) > validation.LabelValueMaxLength {
		return revision.ShortHash(name)
	}
	return name
}

// LabelRevision sets the labels that say which revision a pod has.
func (p *Planner) LabelRevision(name string, set func(key, value string)) {
	p.relabel(p.RevisionValue(name), set)
}

// relabel sets them to what a pod of that revision has in its label.
func (p *Planner) relabel(label string, set func(key, value string)) {
	set(RevisionLabel, label)
	if p.Workload.TemplateHash {
		set(TemplateHashLabel, revision.ShortHash(label))
	}
}
