// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// InGrace tells whether a pod is in the grace period before its containers
// change. If that cannot be read it is not: its end is not known.
func (v *View) InGrace() bool { return !v.calm && inplace.InGrace(v.Pod) && !v.Unreadable }

// RefreshFirst tells whether an update has to wait since the pod is patched
// already, and says so.
func (p *Planner) RefreshFirst(pod *View) bool {
	if pod.Patch == nil {
		return false
	}
	p.Wait(pod.Pod, &rollout.Reason{
		Rule: rollout.RuleRefreshFirst, Message: "the pod's own state is written first; its update follows"})
	return true
}

// InPlace returns the in-place update of a pod to a revision, the same one for
// all pods of a plan. It is nil if there is none, and the error if it cannot
// begin on this pod. If the workload allows none there is neither. (IP-1)
func (p *Planner) InPlace(pod *View, to *appsv1.ControllerRevision) (*inplace.Update, error) {
	if !p.Workload.InPlace.Allowed {
		return nil, nil
	}
	if p.calculator == nil {
		p.calculator = &inplace.Calculator{History: p.History, To: to, Options: p.Workload.InPlace.Options()}
	}
	if pod.retry != nil && revision.Matches(pod.revision(), to.Name) {
		return pod.retry.Update, inplace.Feasible(pod.Pod, pod.retry.Update)
	}
	if pod.unresized != "" && revision.Matches(pod.revision(), to.Name) {
		return nil, errors.New(pod.unresized)
	}
	update, _ := p.calculator.For(pod.revision())
	if update == nil {
		return nil, nil
	}
	if len(update.Resources) > 0 {
		if err := p.Refusals.Unsupported(pod.Pod); err != nil {
			return nil, err
		}
	}
	if err := inplace.Feasible(pod.Pod, update); err != nil {
		return nil, err
	}
	return update, nil
}

// Forbidden says why a pod that must not be recreated cannot be updated either,
// and reports it. It does so once per revision if the template is the reason, and per pod
// if the pod itself is, which the error says.
func (p *Planner) Forbidden(pod *View, err error) *rollout.Reason {
	policy := p.Workload.InPlace.Field + " InPlaceOnly"
	if err != nil {
		if !pod.Unreadable { // otherwise it is reported already
			p.PodProblem(pod, err)
		}
		return &rollout.Reason{Rule: rollout.RuleInPlaceOnly, Message: policy + ": " + err.Error()}
	}
	label := pod.revision()
	if reason := p.forbids[label]; reason != nil {
		return reason
	}
	_, obstacles := p.calculator.For(label)
	obstacle := obstacles[0].String()
	p.UpdateProblem(fmt.Errorf("pods of revision %s cannot be updated in place, and %s forbids to recreate them: %s; change the template back or the %s",
		label, policy, obstacle, p.Workload.InPlace.What))
	reason := &rollout.Reason{Rule: rollout.RuleInPlaceOnly, Message: policy + ": " + obstacle}
	if p.forbids == nil {
		p.forbids = map[string]*rollout.Reason{}
	}
	p.forbids[label] = reason
	return reason
}

// undisturbed tells whether an update changes only the cpu and memory of a pod's containers. Such a pod stays in service, and in
// the state that it has. If its hook was asked already, or an earlier update of it is not complete, it goes through the states.
// (IP-36)
func undisturbed(pod *View, update *inplace.Update) bool {
	switch lifecycle.StateOf(pod.Pod) {
	case "", lifecyclev1alpha1.StateNormal, lifecyclev1alpha1.StatePreparingNormal:
		return !pod.Updating && inplace.KeepsServing(pod.Pod, update)
	}
	return false
}

// PlanRefusals reports the updates that the API server has refused, before other
// problems, as they were reported when that happened. It leaves out pods that are to stay at
// their revision by now. Updates whose images came back are reported as well.
func (p *Planner) PlanRefusals() {
	p.nameBudgets()
	if err := p.retries.err(); err != nil {
		p.plan.Problems = slices.Insert(p.plan.Problems, 0, rollout.Problem{Condition: p.failedUpdate, Err: err})
	}
	if err := p.Refusals.Err; err != nil && !p.refusedStay() {
		p.plan.Problems = slices.Insert(p.plan.Problems, 0, rollout.Problem{Condition: p.failedUpdate, Err: err})
	}
}

// nameBudgets says of pods that could not be updated together with others which of them a budget holds back as well. (CT-10)
func (p *Planner) nameBudgets() {
	if len(p.Refusals.Denied) == 0 {
		return
	}
	for i := range p.plan.Waiting {
		w := &p.plan.Waiting[i]
		if w.Pod == nil || w.Reason.Rule != rollout.RuleMaxUnavailable {
			continue
		}
		if d, denied := p.Refusals.Denied[w.Pod.UID]; denied {
			w.Reason = d.Reason()
		}
	}
}

// awaitsBudget says that a pod, whose update is tried, waits for the budget that has refused it before. (CT-10)
func (p *Planner) awaitsBudget(pod *View) {
	if d, denied := p.Refusals.Denied[pod.UID]; denied && !pod.Otherwise {
		p.Wait(pod.Pod, d.Reason())
	}
}

// refusedStay tells whether the partition, or enough others, leave all pods at their
// revision whose updates were refused.
func (p *Planner) refusedStay() bool {
	staying := 0
	for _, w := range p.plan.Waiting {
		if w.Pod != nil && p.Refusals.Pods[w.Pod.UID] != nil && (w.Reason.Rule == rollout.RulePartition || w.Reason.Rule == rollout.RuleReplicas) {
			staying++
		}
	}
	return staying > 0 && staying == len(p.Refusals.Pods)
}

// BacksOff tells whether an update has to wait, and says so. It waits if the API server has refused the one before it, or if an
// image came back after that.
func (p *Planner) BacksOff(pod *View) bool {
	until, why := p.Refusals.Until, "the API server has refused an update"
	if next := p.retries.until(p.At); next.After(until) {
		until, why = next, "an image came back after an update"
	}
	wait := until.Sub(p.At)
	if wait <= 0 {
		return false
	}
	p.RequeueAfter(wait)
	p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleRefused,
		Message: fmt.Sprintf("%s; the next one is tried at %s", why, until.UTC().Format(time.TimeOnly))})
	return true
}

// UpdateInPlace starts an in-place update to a revision, or has the pod's hook
// asked to prepare it. (LC-9, IP-33)
func (p *Planner) UpdateInPlace(pod *View, update *inplace.Update, to *appsv1.ControllerRevision) {
	if p.BacksOff(pod) || p.sidecarFirst(pod) {
		return
	}
	in, hooks := &p.Workload.InPlace, p.Workload.Hooks
	patch := pod.Change(rollout.PatchPrepare)
	pod.ForUpdate = !pod.PreparedUpdate()
	pod.inService = undisturbed(pod, update)
	if pod.inService {
		in = &InPlace{} // there is nothing to prepare, and no grace to give
	} else if !in.KeepStateless || lifecycle.StateOf(pod.Pod) != "" || hooks != nil && lifecycle.HookedAny(hooks.InPlaceUpdate, pod.Pod) {
		step, held := lifecycle.BeginUpdate(patch, pod.Pod, hooks, false, p.At)
		if step != lifecycle.UpdateStart {
			p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleInPlaceUpdateHook, Message: held})
			return
		}
	}
	pod.Kind, pod.ForUpdate = rollout.PatchUpdateInPlace, true
	if err := inplace.Begin(patch, pod.Pod, update, inplace.BeginOptions{Now: p.At, GracePeriodSeconds: in.GraceSeconds}); err != nil {
		pod.Patch = nil // never: it is feasible
		p.PodProblem(pod, err)
		return
	}
	if injected(pod) {
		patch.IfUnchanged, patch.Throughout = true, true
	}
	p.LabelRevision(to.Name, patch.SetLabel)
	p.RequeueAfter(time.Duration(in.GraceSeconds) * time.Second)
}
