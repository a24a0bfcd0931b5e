// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// Plan is what to do about a budget now: data, to be looked at, compared and applied. The
// same Snapshot gives the same Plan.
type Plan struct {
	// Link are the pods that are to be told that the budget protects them. (PUB-24)
	Link []*corev1.Pod
	// Untell are pods that name the budget and are not its own, nor those of another one. The annotation is taken off them. (PUB-47)
	Untell []*corev1.Pod
	// Status is the status to write; nil if it stands already.
	Status *v1alpha1.PodUnavailableBudgetStatus
	// NotDeleted are pods whose deletion was allowed, and which were not deleted in time. (PUB-17)
	NotDeleted []*corev1.Pod

	// CreateMirror, UpdateMirror and DeleteMirror are what to do about the PodDisruptionBudget that
	// shows the budget; nil for nothing.
	// Unmirrored is why there is none though the budget asks for it; empty otherwise. (PUB-30, PUB-32)
	CreateMirror, UpdateMirror, DeleteMirror *policyv1.PodDisruptionBudget
	Unmirrored                               string

	// NoPods tells that the budget has no pods, and Elsewhere are those that belong to other budgets. (PUB-20)
	NoPods    bool
	Elsewhere []*corev1.Pod
	// Computed is the status as it should be, whether it stands already or not; nil if it
	// cannot be told.
	Computed *v1alpha1.PodUnavailableBudgetStatus
	// Unavailable are the pods that do not count as available, and why, by name.
	Unavailable []budget.Unavailable
	// Held lists what holds the budget up. What has for a minute is told by the condition HeldUp. (PUB-42)
	Held []rollout.Wait
	// RequeueAfter is the time after which the plan may be another without any event;
	// 0 when only events can change it.
	RequeueAfter time.Duration

	// Problem is why the status cannot be told, and stays unchanged if Computed is nil. Otherwise it is what is
	// not known of the workloads, and nothing may be disrupted. Nil if all is known. (PUB-23)
	Problem error
}

// NewPlan decides what to do about a budget. It never fails: a Snapshot without a Budget gives an
// empty plan with that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &Plan{}
	if s == nil || s.Budget == nil {
		p.Problem = errors.New("the Snapshot has no Budget; give it the budget to plan for")
		return p
	}
	selection, result, err := s.compute()
	if err != nil {
		p.Problem = err
		s.holdUncounted(p)
		s.tell(p)
		return p
	}
	if p.Problem = s.Unknown; p.Problem == nil {
		if unknown := budget.Unknown(s.Budget, selection); unknown != "" {
			p.Problem = errors.New(unknown)
		}
	}
	for _, pod := range selection.Pods {
		if s.links(pod) {
			p.Link = append(p.Link, pod)
		}
	}
	// What is to be told is in the order of names; what is counted needs none.
	slices.SortFunc(p.Link, byName)
	slices.SortFunc(result.NotDeleted, byName)
	slices.SortFunc(result.Unavailable, func(a, b budget.Unavailable) int { return byName(a.Pod, b.Pod) })
	p.NoPods, p.Elsewhere = len(selection.Pods) == 0, selection.Elsewhere
	p.Computed, p.Unavailable, p.NotDeleted, p.RequeueAfter = &result.Status, result.Unavailable, result.NotDeleted, result.RequeueAfter
	if s.LookAfter > 0 && (p.RequeueAfter == 0 || p.RequeueAfter > s.LookAfter) {
		p.RequeueAfter = s.LookAfter
	}
	s.untell(p)
	s.planMirror(p, selection)
	s.holdCounted(p, selection)
	s.tell(p)
	return p
}

// compute counts the pods of the budget.
func (s *Snapshot) compute() (budget.Selection, *budget.Result, error) {
	selection, err := s.selection()
	if err != nil {
		return selection, nil, err
	}
	if s.Unknown != nil && len(selection.Pods)+len(selection.Elsewhere) == 0 {
		return selection, nil, s.Unknown // whose pods are not known either
	}
	result, err := budget.Compute(s.Budget, selection, s.Now)
	return selection, result, err
}

// selection is what the budget is about, but for what belongs to others. (PUB-20)
func (s *Snapshot) selection() (budget.Selection, error) {
	others := make(map[string]*v1alpha1.PodUnavailableBudget, len(s.Others))
	for _, other := range s.Others {
		others[other.Name] = other
	}
	counts := map[string]func(*corev1.Pod) bool{} // whether others may count a pod that names them
	candidates := s.seen()
	own, elsewhere := make([]*budget.Pod, 0, len(candidates)), []*corev1.Pod(nil)
	for _, pod := range candidates {
		other := others[pod.Related]
		if other != nil && counts[other.Name] == nil {
			counts[other.Name] = budget.MayCountBy(other)
		}
		if other == nil || !counts[other.Name](pod.Pod) || s.isForeign(pod.Pod, other) {
			own = append(own, pod)
		} else if s.Budget.Spec.TargetReference == nil || s.Workloads.Names(pod.Pod, s.Budget) {
			elsewhere = append(elsewhere, pod.Pod)
		}
	}
	choose := budget.SelectFrom
	if s.Features.AnnotatedTotal {
		choose = budget.SelectAnnotated
	}
	selection, err := choose(s.Budget, own, s.Workloads)
	slices.SortFunc(elsewhere, byName)
	selection.Elsewhere = elsewhere
	return selection, err
}

// isForeign tells whether another budget names a workload from which a pod surely does not come. It is sure only if all is known
// that the pod comes from. The name of that budget on the pod then protects nothing. (PUB-24)
func (s *Snapshot) isForeign(pod *corev1.Pod, other *v1alpha1.PodUnavailableBudget) bool {
	return other.Spec.TargetReference != nil && s.Workloads.AreKnown(pod) && !s.Workloads.Names(pod, other)
}

// seen returns the candidates among the pods: those that were read with the Snapshot, unless the caller gave others.
func (s *Snapshot) seen() []*budget.Pod {
	if budget.Are(s.read, s.Pods) {
		return s.candidates
	}
	return budget.Candidates(s.Budget, budget.Read(s.Pods...))
}

func byName(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }

// links tells whether a pod of the budget is to be told so. It is if it names none that is there and about it,
// and matches none that comes first. (PUB-20, PUB-24)
func (s *Snapshot) links(pod *corev1.Pod) bool {
	if relatedTo(pod) == s.Budget.Name || s.Budget.DeletionTimestamp != nil {
		return false
	}
	for _, other := range s.Others {
		if other.Name < s.Budget.Name && s.is(other, pod) {
			return false
		}
	}
	return true
}

// String says what the plan does, a line for each thing, and which pods are not available;
// empty for nothing.
func (p *Plan) String() string {
	var lines []string
	for _, pod := range p.Link {
		lines = append(lines, "link "+pod.Name)
	}
	for _, pod := range p.Untell {
		lines = append(lines, "untell "+pod.Name)
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("status: %d of %d available, %d desired, %d allowed", s.CurrentAvailable, s.TotalReplicas, s.DesiredAvailable, s.UnavailableAllowed))
	}
	for _, m := range []struct {
		verb string
		of   *policyv1.PodDisruptionBudget
	}{{"create", p.CreateMirror}, {"update", p.UpdateMirror}} {
		if m.of != nil {
			lines = append(lines, fmt.Sprintf("%s PodDisruptionBudget %s: %s available", m.verb, m.of.Name, m.of.Spec.MinAvailable))
		}
	}
	if p.DeleteMirror != nil {
		lines = append(lines, "delete PodDisruptionBudget "+p.DeleteMirror.Name)
	}
	if p.Unmirrored != "" {
		lines = append(lines, "no PodDisruptionBudget: "+p.Unmirrored)
	}
	for _, u := range p.Unavailable {
		lines = append(lines, fmt.Sprintf("unavailable %s: %s", u.Pod.Name, u.Reason))
	}
	for _, pod := range p.NotDeleted {
		lines = append(lines, "not deleted: "+pod.Name)
	}
	if p.Problem != nil {
		lines = append(lines, "problem: "+p.Problem.Error())
	}
	return strings.Join(lines, "\n")
}
