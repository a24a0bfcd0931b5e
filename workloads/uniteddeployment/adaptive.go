// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// strategy is the schedule strategy Adaptive, with its defaults. (UD-21)
type strategy struct {
	// critical is the age at which a pod without a node is run elsewhere.
	critical time.Duration
	// lasts is the time for which a subset gets no more pods.
	lasts time.Duration
	// reserve keeps pods without nodes.
	reserve bool
}

// strategy returns the schedule strategy, and false if it is not Adaptive or is not read.
func (s *Snapshot) strategy() (strategy, bool) {
	spec := &s.Set.Spec.Topology.ScheduleStrategy
	if !s.Features.AdaptiveScheduling || spec.Type != v1alpha1.AdaptiveUnitedDeploymentScheduleStrategyType {
		return strategy{}, false
	}
	a := ptr.Deref(spec.Adaptive, v1alpha1.AdaptiveUnitedDeploymentStrategy{})
	lasts := a.UnschedulableDuration
	if lasts == nil {
		lasts = a.UnschedulableLastSeconds
	}
	return strategy{
		critical: time.Duration(max(ptr.Deref(a.RescheduleCriticalSeconds, 30), 0)) * time.Second,
		lasts:    time.Duration(max(ptr.Deref(lasts, 300), 1)) * time.Second,
		reserve:  a.ReserveUnschedulablePods,
	}, true
}

// adapt has other subsets run what a subset cannot schedule. (UD-21)
func (p *planner) adapt() {
	how, adaptive := p.strategy()
	if !p.Features.AdaptiveScheduling {
		return
	}
	if !adaptive {
		p.mark(nil)
		return
	}
	p.sites = p.findSites(how)
	for _, s := range p.sites {
		p.judge(s, how)
	}
	p.plan.Kept = place(p.sites, limited(p.Set.Spec.Topology.Subsets), p.replicas)
	for i, s := range p.sites {
		s.reopens = s.reopens && p.plan.Kept == 0
		p.plan.Subsets[i].Replicas, p.plan.Subsets[i].Reserved = s.own+s.more, s.reserved
		switch was := schedulable(s.before); {
		case s.reopens:
			p.plan.Reopened = append(p.plan.Reopened, s.subset.Name)
		case s.closed && (was == nil || was.Status != corev1.ConditionFalse):
			p.plan.Closed = append(p.plan.Closed, s.subset.Name)
		}
	}
	p.mark(p.sites)
}

// judge decides whether a subset is closed: whether its pods find no nodes, so that it gets no
// more of them. One that is not yet is when a pod that it needs has waited too long. It opens
// again when that has lasted, and all its pods that others have substitutes for are ready.
// (UD-21.1, UD-21.4)
func (p *planner) judge(s *site, how strategy) {
	lacks := s.within(s.has, isStuck) > 0 && s.within(s.has, isScheduled) < s.has
	was := schedulable(s.before)
	wasClosed := was != nil && was.Status == corev1.ConditionFalse
	s.own = s.target
	if s.child == nil || !wasClosed && !lacks {
		return
	}
	s.closed, s.since = true, p.Now
	if wasClosed && was.LastTransitionTime.Time.Before(p.Now) { // one in the future is by another clock
		s.since = was.LastTransitionTime.Time
	}
	removable := s.removable()
	left := s.since.Add(how.lasts).Sub(p.Now)
	if left <= 0 && !how.reserve && lacks && removable > 0 { // it has been tried again, and failed
		s.since, left = p.Now, how.lasts
	}
	if left > 0 {
		p.again(left)
		if !how.reserve {
			s.moved = max(0, s.target-max(0, s.has-removable))
		}
	}
	s.own = s.target - s.moved
	missing := max(0, s.own-s.within(s.own, isScheduled))
	var before int32
	if wasClosed {
		before = s.before.ReservedPods
	}
	s.reserved = max(missing, min(before, s.own-s.within(s.own, isReady)))
	s.reopens = left <= 0 && s.reserved == 0
}

// again asks for another plan after a time.
func (p *planner) again(after time.Duration) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(after, time.Millisecond))
}

// place decides which subsets run what others cannot. Those that do already go on with it, so
// that no ready pod is dropped for one elsewhere. Then come open subsets, first those without
// replicas of their own. They come in their order if there are limits, and otherwise so that
// all have the same. What finds no place stays in its subset. Pods are dropped only if they are
// not ready, or enough others are: held counts the rest of them. (UD-21.2, UD-21.3)
func place(sites []*site, inOrder bool, replicas int32) (held int32) {
	var wanted int32
	for _, s := range sites {
		wanted += s.moved + s.reserved
	}
	left := wanted
	for _, s := range sites {
		s.more = min(s.useful(), s.room(), left)
		left -= s.more
	}
	for _, s := range sites { // pods without nodes below those that serve need substitutes too
		n := s.gaps()
		s.reserved, wanted, left = s.reserved+n, wanted+n, left+n
		s.reopens = s.reopens && n == 0
	}
	for _, fixed := range []bool{false, true} {
		for left > 0 {
			s := next(sites, fixed, inOrder)
			if s == nil {
				break
			}
			s.more++
			left--
		}
	}
	settle(sites, wanted-left)
	return hold(sites, replicas)
}

// next is the subset that takes one more pod; nil if none does.
func next(sites []*site, fixed, inOrder bool) (best *site) {
	for _, s := range sites {
		if s.closed || fixed != (s.subset.Replicas != nil) || s.room() <= s.more {
			continue
		}
		if best == nil || !inOrder && s.own+s.more < best.own+best.more {
			best = s
		}
	}
	return best
}

// settle gives back what found no place, reserved pods first.
func settle(sites []*site, placed int32) {
	for _, s := range sites {
		n := min(s.moved, placed)
		s.own, s.moved, placed = s.own+s.moved-n, n, placed-n
	}
	for _, s := range sites {
		n := min(s.reserved, placed)
		s.reserved, placed = n, placed-n
	}
}

// hold keeps substitutes that are not needed any more as long as the ready pods would be too few
// without them.
func hold(sites []*site, replicas int32) (held int32) {
	var ready int32
	closed := false
	for _, s := range sites {
		ready += s.within(math.MaxInt32, isReady)
		closed = closed || s.closed
	}
	for _, s := range sites {
		dropped := min(s.has-s.own, s.room()) - s.more
		if !closed || dropped <= 0 {
			continue
		}
		lost := s.readyLost(s.own + s.more)
		if lost > 0 && ready-lost < replicas {
			s.more, held = s.more+dropped, held+dropped
		} else {
			ready -= lost
		}
	}
	return held
}

// schedulable is the condition Schedulable of a subset; nil if it has none.
func schedulable(status *v1alpha1.UnitedDeploymentSubsetStatus) *v1alpha1.UnitedDeploymentSubsetCondition {
	if status == nil {
		return nil
	}
	for i := range status.Conditions {
		if status.Conditions[i].Type == v1alpha1.UnitedDeploymentSubsetSchedulable {
			return &status.Conditions[i]
		}
	}
	return nil
}

// reasonUnschedulable is the reason of the condition Schedulable if it is False.
const reasonUnschedulable = "Unschedulable"

// The reasons of OpenKruise, of a subset that is closed, and of one that has opened again. (UD-21.7)
const (
	reasonReschedule = "reschedule"
	reasonRecover    = "recover"
)

// planSubsetStatuses writes what is known of the subsets into the status. (UD-21.5)
func (p *planner) planSubsetStatuses(status *v1alpha1.UnitedDeploymentStatus) {
	if !p.Features.AdaptiveScheduling && !p.Features.SubsetStatuses {
		return
	}
	status.SubsetStatuses, status.ReservedPods = nil, 0
	for i := range p.plan.Subsets {
		subset := &p.plan.Subsets[i]
		one := v1alpha1.UnitedDeploymentSubsetStatus{Name: subset.Name, Replicas: subset.Replicas, Partition: subset.Partition, ReservedPods: subset.Reserved}
		if subset.Child != nil {
			one.ReadyReplicas = subset.Child.ReadyReplicas
		}
		status.ReservedPods += subset.Reserved
		if p.sites != nil {
			one.Conditions = p.subsetConditions(p.sites[i])
		} else if !p.Features.SubsetStatuses {
			return
		}
		status.SubsetStatuses = append(status.SubsetStatuses, one)
	}
}

// subsetConditions says whether a subset is closed, behind what others say of it.
func (p *planner) subsetConditions(s *site) (conditions []v1alpha1.UnitedDeploymentSubsetCondition) {
	was := schedulable(s.before)
	condition := v1alpha1.UnitedDeploymentSubsetCondition{Type: v1alpha1.UnitedDeploymentSubsetSchedulable, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(p.Now)}
	switch {
	case s.closed && !s.reopens:
		condition.Status, condition.Reason, condition.LastTransitionTime = corev1.ConditionFalse, reasonUnschedulable, metav1.NewTime(s.since)
		if p.Features.SubsetStatuses {
			condition.Reason = reasonReschedule
		}
		condition.Message = "pods that it needs find no nodes: other subsets run them instead, as far as they can"
	case was != nil && was.Status == corev1.ConditionTrue:
		condition.LastTransitionTime = was.LastTransitionTime
		if p.Features.SubsetStatuses {
			condition.Reason, condition.Message = was.Reason, was.Message
		}
	case was != nil && p.Features.SubsetStatuses:
		condition.Reason, condition.Message = reasonRecover, "it gets all of its pods again"
	}
	if s.before != nil {
		for _, other := range s.before.Conditions {
			if other.Type != v1alpha1.UnitedDeploymentSubsetSchedulable {
				conditions = append(conditions, other)
			}
		}
	}
	return append(conditions, condition)
}
