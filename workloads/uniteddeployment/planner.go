// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// kindOfSet is what a UnitedDeployment is.
var kindOfSet = v1alpha1.SchemeGroupVersion.WithKind(kind)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan

	match    labels.Selector
	all      []Child          // of all kinds, that the UnitedDeployment controls
	bySubset map[string]Child // of the kind of the template, the one that counts
	others   []Child          // that are in the way: of other kinds, of no subset, beside another
	revision string           // the value of the revision labels
	replicas int32            // of all subsets together
	sites    []*site          // if the schedule strategy is Adaptive, the subsets
}

// findKind finds out what the template makes. (UD-1)
func (p *planner) findKind() bool {
	kind, ok := kindOf(&p.Set.Spec.Template)
	if !ok {
		p.problem(errors.New("spec.template: " + oneTemplate))
		return false
	}
	if p.plan.Kind = kind; has(p.Without, kind) {
		p.problem(fmt.Errorf("spec.template: workloads of the kind %s are not served here: install the kind, or use another template", kind))
		return false
	}
	return true
}

// findSubsets checks that workloads can be told apart: by the selector and by the names of the
// subsets. What admission refuses is a problem here, if there was no webhook.
func (p *planner) findSubsets() bool {
	match, err := p.selector()
	if err != nil || match.Empty() || p.Set.Spec.Selector == nil {
		p.problem(errors.New("spec.selector: must be a selector that is not empty"))
		return false
	}
	p.match = match
	if errs := validateSubsets(p.Set.Spec.Topology.Subsets, topologyPath); len(errs) > 0 {
		p.problem(errs.ToAggregate())
		return false
	}
	return true
}

// claim finds the workload of each subset, of several the one that is not being deleted, the
// oldest, the first by name. (UD-2)
func (p *planner) claim() {
	p.bySubset = map[string]Child{}
	wanted := map[string]bool{}
	for i := range p.Set.Spec.Topology.Subsets {
		wanted[p.Set.Spec.Topology.Subsets[i].Name] = true
	}
	found := p.children()
	slices.SortFunc(found, func(a, b Child) int {
		x, y := a.Object, b.Object
		created, other := x.GetCreationTimestamp(), y.GetCreationTimestamp()
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), created.Compare(other.Time), cmp.Compare(x.GetName(), y.GetName()))
	})
	var orphans []Child
	for _, c := range found {
		matches := p.match.Matches(labels.Set(c.Object.GetLabels()))
		switch by := metav1.GetControllerOfNoCopy(c.Object); {
		case c.deleting(), c.Subset == "": // one that names no subset is none of the workloads of subsets
		case by == nil:
			if matches && c.Kind == p.plan.Kind && wanted[c.Subset] {
				orphans = append(orphans, c)
			}
		case by.UID != p.Set.UID:
		case !matches:
			p.plan.Release = append(p.plan.Release, c)
		default:
			p.take(c, wanted)
		}
	}
	for _, c := range orphans {
		if _, taken := p.bySubset[c.Subset]; !taken {
			p.plan.Adopt = append(p.plan.Adopt, c)
			p.bySubset[c.Subset] = c
		}
	}
}

// take sorts out a workload that the UnitedDeployment controls.
func (p *planner) take(c Child, wanted map[string]bool) {
	p.all = append(p.all, c)
	if _, taken := p.bySubset[c.Subset]; taken || c.Kind != p.plan.Kind || !wanted[c.Subset] {
		p.others = append(p.others, c)
		return
	}
	p.bySubset[c.Subset] = c
}

// allocate splits the replicas over the subsets, and finds the partitions. (UD-3, UD-4, UD-20, UD-21)
func (p *planner) allocate() bool {
	subsets := p.Set.Spec.Topology.Subsets
	current := map[string]int32{}
	_, adaptive := p.strategy()
	if !adaptive { // what a subset runs for others must not count (UD-21)
		for name, c := range p.bySubset {
			current[name] = c.Replicas
		}
	}
	split := Allocate
	if p.Features.AdaptiveScheduling {
		split = allocateWithin
	}
	if p.Set.Spec.Replicas == nil && !allNumbers(subsets) {
		if adaptive || p.Features.AdaptiveScheduling && limited(subsets) {
			p.problem(errors.New("spec.replicas: " + replicasMissing))
			return false
		}
		subsets = withoutPercentages(subsets)
	}
	p.replicas = p.wantedReplicas()
	a, err := split(p.replicas, subsets, current)
	if err != nil {
		p.problem(err)
		return false
	}
	p.plan.Resolved = a.Resolved
	for i := range subsets {
		subset := SubsetPlan{Name: subsets[i].Name, Replicas: a.Replicas[i]}
		if c, found := p.bySubset[subset.Name]; found {
			subset.Child = &c
		}
		p.plan.Subsets = append(p.plan.Subsets, subset)
	}
	p.adapt()
	p.findPartitions()
	return true
}

// wantedReplicas is spec.replicas. If it is absent it is the sum of the subsets. They give numbers, or
// their workloads have some. It is 1 if there is neither. (UD-3.4)
func (p *planner) wantedReplicas() int32 {
	if p.Set.Spec.Replicas != nil {
		return max(*p.Set.Spec.Replicas, 0)
	}
	sum, some, open := givenNumbers(p.Set.Spec.Topology.Subsets)
	for _, name := range open {
		if c, found := p.bySubset[name]; found {
			sum, some = sum+int64(c.Replicas), true
		}
	}
	if !some {
		return 1
	}
	return int32(min(sum, math.MaxInt32))
}

// findPartitions finds how many pods each subset holds back. (UD-4)
func (p *planner) findPartitions() {
	manual := p.Set.Spec.UpdateStrategy.ManualUpdate
	if manual == nil {
		return
	}
	for i := range p.plan.Subsets {
		subset := &p.plan.Subsets[i]
		subset.Partition = min(max(manual.Partitions[subset.Name], 0), subset.Replicas)
	}
}
