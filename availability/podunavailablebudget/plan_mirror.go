// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/budget"
)

// planMirror decides what to do about the PodDisruptionBudget that shows the budget. (PUB-30)
func (s *Snapshot) planMirror(p *Plan, selection budget.Selection) {
	if s.Mirror == MirrorNone {
		return
	}
	stands := s.named()
	wanted := s.wantedMirror(p, selection, stands)
	switch {
	case stands == nil:
		p.CreateMirror = wanted
	case !metav1.IsControlledBy(stands, s.Budget) || stands.DeletionTimestamp != nil:
	case wanted == nil:
		p.DeleteMirror = stands
	case !equality.Semantic.DeepEqual(stands.Spec, wanted.Spec):
		p.UpdateMirror = stands.DeepCopy()
		p.UpdateMirror.Spec = wanted.Spec
	}
}

// named is the PodDisruptionBudget that has the name of the budget; nil for none.
func (s *Snapshot) named() *policyv1.PodDisruptionBudget {
	i := slices.IndexFunc(s.Disruptions, func(d *policyv1.PodDisruptionBudget) bool { return d.Name == s.Budget.Name })
	if i < 0 {
		return nil
	}
	return s.Disruptions[i]
}

// wantedMirror is the mirror as it should be; nil if there is to be none. If the budget asks for one all the
// same, the plan says why. (PUB-32)
func (s *Snapshot) wantedMirror(p *Plan, selection budget.Selection, stands *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	if s.Mirror != MirrorAnnotated || !budget.Mirrored(s.Budget) {
		return nil
	}
	if stands != nil && !metav1.IsControlledBy(stands, s.Budget) {
		if ref := metav1.GetControllerOfNoCopy(stands); ref == nil || ref.Kind != kind || ref.Name != s.Budget.Name {
			p.Unmirrored = fmt.Sprintf("PodDisruptionBudget %s is there and the budget does not control it: delete it, and it is created anew", stands.Name)
		} // otherwise it is that of a former budget, which the garbage collector deletes
		return nil
	}
	wanted := budget.Mirror(s.Budget, p.Computed, selection.Selector)
	if wanted == nil {
		if p.Computed.DesiredAvailable > 0 && selection.Selector == nil {
			p.Unmirrored = "it is not known which labels its workload selects"
		}
		return nil
	}
	pods := slices.SortedFunc(slices.Values(s.Pods), byName)
	slices.SortFunc(selection.Pods, byName)
	if p.Unmirrored = budget.Stricter(s.Budget, selection, wanted, pods); p.Unmirrored != "" {
		return nil
	}
	if other, pod := budget.Overlap(wanted, stands != nil, s.Disruptions, pods); other != "" {
		p.Unmirrored = fmt.Sprintf("PodDisruptionBudget %s selects pod %s as well: a pod that two select cannot be evicted", other, pod)
		return nil
	}
	return wanted
}

// MirrorPolicy says what becomes of the PodDisruptionBudgets that show budgets to autoscalers. (PUB-30)
type MirrorPolicy string

const (
	// MirrorNone leaves PodDisruptionBudgets alone: none is read or written.
	MirrorNone MirrorPolicy = ""
	// MirrorAnnotated keeps one for each budget that asks for it with
	// v1alpha1.PodDisruptionBudgetAnnotation.
	MirrorAnnotated MirrorPolicy = "Annotated"
	// MirrorRemove deletes those that were made. It is for the time before MirrorNone, with
	// which no controller would keep them up to date.
	MirrorRemove MirrorPolicy = "Remove"
)

// CheckMirrorPolicy returns an error for what is none of the constants.
func CheckMirrorPolicy(policy MirrorPolicy) error {
	switch policy {
	case MirrorNone, MirrorAnnotated, MirrorRemove:
		return nil
	}
	return fmt.Errorf("%q: want %q, %q or none", policy, MirrorAnnotated, MirrorRemove)
}
