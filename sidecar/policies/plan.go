// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/injection/policy"
)

// Plan is what to do about the policy of a SidecarSet now: data, to be looked at, compared
// and applied. The same Snapshot gives the same Plan.
type Plan struct {
	// CreatePolicy, UpdatePolicy, CreateBinding and UpdateBinding are what to write, in this
	// order; nil for nothing. What is updated has the resourceVersion that was observed.
	CreatePolicy, UpdatePolicy   *admissionregistrationv1.MutatingAdmissionPolicy
	CreateBinding, UpdateBinding *admissionregistrationv1.MutatingAdmissionPolicyBinding
	// DeleteBinding and DeletePolicy are what to delete, in this order; nil for nothing.
	DeleteBinding *admissionregistrationv1.MutatingAdmissionPolicyBinding
	DeletePolicy  *admissionregistrationv1.MutatingAdmissionPolicy

	// Skipped is why the SidecarSet is to have no policy; empty if it is to have one.
	Skipped string
	// Waiting is why what stands is left for now: one wait, of the whole SidecarSet. It is empty if nothing is waited for.
	Waiting []rollout.Wait
	// Uncompiled is why no policy can inject what the SidecarSet has: it needs the webhook.
	// Unrestored is why it is not known what to inject. Taken are the policy and the binding
	// that have the name, and belong to another owner.
	Uncompiled, Unrestored error
	Taken                  []error
	// Problems say why no plan can be made: the Snapshot has no SidecarSet. Empty if one can.
	Problems []rollout.Problem
}

// NewPlan decides what to do about the policy of a SidecarSet. It never fails: what is wrong
// with it is part of the plan. A Snapshot without a SidecarSet gives an empty plan with that
// problem.
func NewPlan(s *Snapshot) *Plan {
	p := &planner{Snapshot: s, plan: &Plan{}}
	if s == nil || s.SidecarSet == nil {
		p.plan.Problems = rollout.ProblemsOf(errors.New("the Snapshot has no SidecarSet; give it the one to plan for"))
		return p.plan
	}
	if s.SidecarSet.DeletionTimestamp != nil {
		return p.plan // the garbage collector deletes both
	}
	p.checkOwners()
	if len(p.plan.Taken) > 0 {
		return p.plan
	}
	if p.plan.Skipped = policy.Skipped(s.SidecarSet); p.plan.Skipped != "" {
		p.remove()
		return p.plan
	}
	in, known := p.current()
	if !known {
		return p.plan
	}
	compiled, err := policy.Compile(in)
	if err != nil {
		p.plan.Uncompiled = err
		p.remove()
		return p.plan
	}
	p.write(compiled)
	return p.plan
}

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan
}

// checkOwners looks for what has the name and belongs to another owner. (SPC-7)
func (p *planner) checkOwners() {
	check := func(kind string, object metav1.Object) {
		if !metav1.IsControlledBy(object, p.SidecarSet) {
			p.plan.Taken = append(p.plan.Taken, fmt.Errorf("%s %s is there and SidecarSet %s does not control it: delete it, and it is created anew", kind, object.GetName(), p.SidecarSet.Name))
		}
	}
	if p.Policy != nil {
		check("MutatingAdmissionPolicy", p.Policy)
	}
	if p.Binding != nil {
		check("MutatingAdmissionPolicyBinding", p.Binding)
	}
}

// What the policies of a SidecarSet wait for.
const (
	// ruleUnobserved: the status does not tell of the present generation yet.
	ruleUnobserved rollout.Rule = "Unobserved"
	// ruleRevisionMissing: the revision that is to be injected is not there yet.
	ruleRevisionMissing rollout.Rule = "RevisionMissing"
)

// wait records why what stands is left for now. No object tells since when.
func (p *planner) wait(rule rollout.Rule, message string) {
	p.plan.Waiting = []rollout.Wait{{Reason: &rollout.Reason{Rule: rule, Message: message}}}
}

// current finds what is to be injected now, and since when. (SPC-2, SPC-6)
func (p *planner) current() (in policy.Input, known bool) {
	set := p.SidecarSet
	in, err := policy.Current(set, set.Status.LatestRevision, p.Revisions)
	in.FailurePolicy, in.LeaveLarge, in.Features = p.FailurePolicy, p.Webhook, p.Injection
	switch {
	case err != nil:
		p.plan.Unrestored = err
	case in.SidecarSet == set && (set.Status.ObservedGeneration < set.Generation || in.Revision == ""):
		p.wait(ruleUnobserved, fmt.Sprintf("the revision of generation %d is not in the status yet, which has observed %d", set.Generation, set.Status.ObservedGeneration))
	case in.Created.IsZero():
		p.wait(ruleRevisionMissing, fmt.Sprintf("revision %s is not there yet", in.Revision))
	default:
		return in, true
	}
	return in, false
}

// remove deletes what is there. (SPC-5)
func (p *planner) remove() {
	if p.Binding != nil && p.Binding.DeletionTimestamp == nil {
		p.plan.DeleteBinding = p.Binding
	}
	if p.Policy != nil && p.Policy.DeletionTimestamp == nil {
		p.plan.DeletePolicy = p.Policy
	}
}

// write creates what is missing and updates what differs. (SPC-1, SPC-3, SPC-7)
func (p *planner) write(wanted *policy.Compiled) {
	switch {
	case p.Policy == nil:
		p.plan.CreatePolicy = wanted.Policy
	case !equality.Semantic.DeepEqual(p.Policy.Spec, wanted.Policy.Spec) ||
		p.Policy.Annotations[policy.RevisionAnnotation] != wanted.Policy.Annotations[policy.RevisionAnnotation]:
		updated := p.Policy.DeepCopy()
		updated.Spec = wanted.Policy.Spec
		metav1.SetMetaDataAnnotation(&updated.ObjectMeta, policy.RevisionAnnotation, wanted.Policy.Annotations[policy.RevisionAnnotation])
		p.plan.UpdatePolicy = updated
	}
	switch {
	case p.Binding == nil:
		p.plan.CreateBinding = wanted.Binding
	case !equality.Semantic.DeepEqual(p.Binding.Spec, wanted.Binding.Spec):
		p.plan.UpdateBinding = p.Binding.DeepCopy()
		p.plan.UpdateBinding.Spec = wanted.Binding.Spec
	}
}
