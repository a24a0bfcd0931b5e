// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Plan is what to do about a UnitedDeployment now: data, to be looked at, compared and
// applied. The same Snapshot gives the same Plan.
type Plan struct {
	// Kind is that of the template; empty if there is none, or several.
	Kind TemplateKind
	// Revisions is what is done to the history.
	Revisions revision.Changes
	// Subsets are the subsets in the order of the topology, and what they are to have.
	Subsets []SubsetPlan
	// Resolved says that what subsets ask for did not add up, and was changed.
	Resolved bool

	// Adopt lists workloads without a controller that become those of their subsets, and
	// Release those whose labels do not match the selector any more.
	Adopt, Release []Child
	// Create lists the workloads to create.
	Create []Creation
	// Delete lists the workloads to delete, once all in Create are there.
	Delete []Child
	// Update lists the workloads to change.
	Update []Update
	// DeletePods are pods of StatefulSets that keep an update from going on, one of each subset at
	// most. Blocking are those that do and are left for now, because they have been ready. (UD-11)
	DeletePods, Blocking []*corev1.Pod

	// Reserve are pods that get v1alpha1.ReservedPodLabel, and Unreserve pods that lose it.
	// (UD-21.3)
	Reserve, Unreserve []*corev1.Pod
	// LabelAll says that the pods of Unreserve get the label with the value false instead. (UD-21.6)
	LabelAll bool
	// Kept is how many substitutes of pods that are ready by now are kept until enough pods are.
	// (UD-21.3)
	Kept int32
	// Closed are subsets whose pods find no nodes any more, and Reopened those whose pods do
	// again. (UD-21)
	Closed, Reopened []string
	// RequeueAfter is the time after which the plan may be another without any change; 0 for
	// never.
	RequeueAfter time.Duration

	// Held lists the subsets that keep the UnitedDeployment from its spec. (UD-22)
	Held []rollout.Wait

	// Status is the status to write if all that is planned succeeds, beside the
	// conditions that say so.
	Status *v1alpha1.UnitedDeploymentStatus
	// Problems are errors in the spec, each with what to do about it. If there is one,
	// no workload is written.
	Problems []rollout.Problem
}

// SubsetPlan is what a subset is to have.
type SubsetPlan struct {
	// Name is that of the subset.
	Name string
	// Replicas is the number of pods, and Partition how many of them are held back at the
	// revision that they have.
	Replicas, Partition int32
	// Reserved is how many of Replicas others have substitutes for. (UD-21.3)
	Reserved int32
	// Child is the workload, nil if it is to be created.
	Child *Child
}

// Creation is a workload to create.
type Creation struct {
	// Kind is which of the templates it is made of, Subset the name of the subset, and Object what to create.
	Kind   TemplateKind
	Subset string
	Object Object
}

// Object is a workload of one of the four kinds.
type Object interface {
	runtime.Object
	metav1.Object
}

// Update is a change of a workload.
type Update struct {
	// Child is the workload as it was observed.
	Child Child
	// Replicas and Partition are what it is to have.
	Replicas, Partition int32
	// Wanted is the workload as it should be, without a name; nil if nothing but Replicas
	// and Partition is to change.
	Wanted Object
	// last is what it was made of last, but for its patch; nil if that is not known.
	last *rendering
}

// NewPlan decides what to do about a UnitedDeployment. It never fails: what is wrong with it
// is listed in Plan.Problems.
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Set == nil {
		return &Plan{Problems: rollout.ProblemsOf(errors.New("the Snapshot has no Set; give it the UnitedDeployment to plan for"))}
	}
	p := &planner{Snapshot: s, plan: &Plan{}}
	if s.Set.DeletionTimestamp != nil {
		return p.plan // the garbage collector sees to the workloads (UD-13)
	}
	p.planAll()
	p.planStatus()
	return p.plan
}

// planAll stops at the first thing without which the next cannot be decided.
func (p *planner) planAll() {
	if !p.findKind() || !p.findSubsets() {
		return
	}
	if !p.planRevisions() {
		return
	}
	p.claim()
	if !p.allocate() {
		return
	}
	p.planWorkloads()
	if len(p.plan.Problems) > 0 { // a subset whose workload cannot be made; see writesNothing
		p.writesNothing()
		return
	}
	p.planPods()
}

// writesNothing drops what was planned: a UnitedDeployment with a problem is left alone.
func (p *planner) writesNothing() {
	p.plan.Adopt, p.plan.Release, p.plan.Create, p.plan.Update, p.plan.Delete = nil, nil, nil, nil, nil
	p.plan.Reserve, p.plan.Unreserve = nil, nil
}

// problem reports what is wrong with the spec.
func (p *planner) problem(err error) {
	p.plan.Problems = append(p.plan.Problems, rollout.Problem{Condition: string(v1alpha1.SubsetFailure), Err: err})
}
