// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// workloadLimit is how long sidecars wait at most for the workload's own update of a pod.
// Without a limit, an update whose image cannot be pulled would keep a broken sidecar from
// its repair. (SCS-20)
const workloadLimit = 5 * time.Minute

// The reasons of pods that wait for a user.
var (
	notUpdate   = &rollout.Reason{Rule: ruleNotUpdate, Message: "updateStrategy.type is NotUpdate"}
	paused      = &rollout.Reason{Rule: rollout.RulePaused, Message: "updateStrategy.paused is true"}
	notSelected = &rollout.Reason{Rule: ruleNotSelected, Message: "updateStrategy.selector does not match the labels of the pod"}
	resetFirst  = &rollout.Reason{Rule: rollout.RuleRefreshFirst, Message: "a hot container is emptied first; the update follows"}
)

// planUpdate begins updates, and returns their pods in order. (SCS-5 to SCS-15)
func (p *planner) planUpdate() []*pod {
	if err := p.readStrategy(); err != nil {
		p.UpdateProblem(err)
		p.unreadable = &rollout.Reason{Rule: ruleUnreadable, Message: err.Error()}
		p.candidates() // there are none, but for each pod there is something to say
		return nil
	}
	for _, pod := range p.pods {
		if pod.out = p.outOfService(pod); pod.out {
			p.plan.Rollout.Unavailable++
		}
	}
	p.planResets()
	candidates := p.candidates()
	p.plan.Rollout.Candidates = int32(len(candidates))
	ordered, err := p.order(candidates)
	if err != nil {
		err = fmt.Errorf("spec.updateStrategy.%w", err)
		p.UpdateProblem(err)
		for _, pod := range candidates {
			p.Wait(pod.Pod, &rollout.Reason{Rule: ruleUnreadable, Message: err.Error()})
		}
		return nil
	}
	return p.take(p.leave(ordered))
}

// candidates are the pods that can be updated now. (SCS-6)
func (p *planner) candidates() (candidates []*pod) {
	if len(p.sidecars) == 0 {
		return nil
	}
	for _, pod := range p.pods {
		if pod.Updated {
			continue
		}
		switch reason := p.holds(pod); {
		case reason == nil:
			candidates = append(candidates, pod)
		case reason.Rule == ruleNotUpgradable:
			p.plan.NotUpgradable = append(p.plan.NotUpgradable, rollout.PodWaits(pod.Pod, reason))
		default:
			p.Wait(pod.Pod, reason)
		}
	}
	return candidates
}

// holds says what keeps a pod from being a candidate; nil if nothing does. (SCS-5, SCS-6)
func (p *planner) holds(pod *pod) *rollout.Reason {
	strategy := &p.set.Spec.UpdateStrategy
	if strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType {
		return notUpdate
	}
	if reason := p.differs(pod); reason != nil {
		return reason
	}
	switch {
	case p.unreadable != nil:
		return p.unreadable
	case strategy.Paused:
		return paused
	case !p.chosen.Matches(labels.Set(pod.Labels)):
		return notSelected
	case pod.Patch != nil:
		return resetFirst
	}
	if pod.waiting != "" {
		if waiting := p.inconsistent(pod, func(name string) bool { return podstate.LastingReady(pod.Pod, name) }); waiting != "" {
			return &rollout.Reason{Rule: rollout.RuleInPlaceUpdating, Message: waiting}
		}
	}
	if reason := p.awaitsFlip(pod); reason != nil {
		return reason
	}
	return p.workloadUpdates(pod)
}

// sidecarsServe tells whether all containers of the SidecarSet in a pod are ready, with the
// images of their spec.
func (p *planner) sidecarsServe(pod *pod) bool {
	return pod.waiting == "" && pod.starting == "" && !slices.ContainsFunc(p.names, func(name string) bool {
		return podstate.Lasting(pod.Pod, name) != nil && !podstate.LastingReady(pod.Pod, name)
	})
}

// workloadUpdates says that the workload of a pod updates it in place; nil if it does
// not, or has been at it for too long. (SCS-20)
func (p *planner) workloadUpdates(pod *pod) *rollout.Reason {
	waiting, since := inplace.Underway(pod.Pod)
	left := workloadLimit - p.Now.Sub(since)
	if waiting == "" || left <= 0 || left >= 2*workloadLimit { // of another clock, which is not waited for
		return nil
	}
	p.RequeueAfter(left)
	return &rollout.Reason{Rule: ruleWorkloadUpdating, Message: "the workload updates the pod in place: " + waiting}
}

// order brings candidates into the order of their updates. (SCS-9, SCS-10, SCS-15, SCS-29)
func (p *planner) order(candidates []*pod) ([]*pod, error) {
	options := rollout.UpdateOptions{Priority: p.set.Spec.UpdateStrategy.PriorityStrategy, KeepOrder: true}
	if len(p.set.Spec.UpdateStrategy.ScatterStrategy) > 0 {
		for _, pod := range p.pods {
			options.All = append(options.All, pod.Pod)
		}
		options.Scatter = scatterTerms(p.set.Spec.UpdateStrategy.ScatterStrategy, options.All)
	}
	sorted, err := rollout.SortForUpdateOf(candidates, (*pod).shared, options)
	if r := &p.plan.Rollout; err == nil && r.Unavailable < r.MaxUnavailable { // otherwise the others may wait for those that were refused
		sorted = rollout.RefusedLast(&p.Refused, sorted, (*pod).shared)
	}
	return sorted, err
}

// scatterTerms spells out the terms that stand for every value. (SCS-10)
func scatterTerms(terms []v1alpha1.UpdateScatterTerm, pods []*corev1.Pod) (all inplacev1alpha1.UpdateScatterStrategy) {
	add := func(key, value string) {
		if term := (inplacev1alpha1.UpdateScatterTerm{Key: key, Value: value}); !slices.Contains(all, term) {
			all = append(all, term)
		}
	}
	for _, term := range terms {
		if term.Value != "*" {
			add(term.Key, term.Value)
			continue
		}
		values := map[string]bool{}
		for _, pod := range pods {
			if value, is := pod.Labels[term.Key]; is {
				values[value] = true
			}
		}
		for _, value := range slices.Sorted(maps.Keys(values)) {
			add(term.Key, value)
		}
	}
	return all
}

// leave leaves the last of the candidates to the partition. (SCS-7)
func (p *planner) leave(ordered []*pod) []*pod {
	r := &p.plan.Rollout
	n := max(0, len(ordered)-int(r.Partition))
	reason := &rollout.Reason{Rule: rollout.RulePartition, Limit: r.Partition, Observed: r.Candidates,
		Message: fmt.Sprintf("partition %d: %s could be updated, and the last of them stay", r.Partition, number(int(r.Candidates)))}
	for _, pod := range ordered[n:] {
		p.Wait(pod.Pod, reason)
	}
	return ordered[:n]
}

// outOfService tells whether a pod is out of service because of an update. Such a pod is updated, or
// was before, and is not ready or not consistent. It does not matter whether it is to be updated now:
// the strategy may have been another one then. Of a pod that is not updated and that its workload
// updates meanwhile, the sidecars count alone. One that did not serve as its update began, and has
// its sidecars, is out of service for another reason. (SCS-8)
func (p *planner) outOfService(pod *pod) bool {
	switch {
	case pod.Available, p.lacksOthers(pod):
		return false
	case pod.Updated:
		return true
	case !p.statesOf(pod).some && !p.flipping(pod):
		return false
	}
	return p.workloadUpdates(pod) == nil || !p.sidecarsServe(pod)
}

// lacksOthers tells whether a pod did not serve as its update began, has not served since, and lacks none of the
// SidecarSet's containers. (SCS-8)
func (p *planner) lacksOthers(pod *pod) bool {
	since := notReadySince(pod.Pod)
	return since != nil && since.Equal(p.statesOf(pod).since) && p.sidecarsServe(pod) && !p.flipping(pod)
}

// notReadySince is since when a pod is not ready; nil if it is, or does not say.
func notReadySince(pod *corev1.Pod) *metav1.Time {
	c := readiness.Condition(pod, corev1.PodReady)
	if c == nil || c.Status == corev1.ConditionTrue || c.LastTransitionTime.IsZero() {
		return nil
	}
	return c.LastTransitionTime.DeepCopy()
}

// take begins the updates that maxUnavailable allows. A pod that does not serve costs
// nothing, unless that comes from an update before, whose place it keeps. (SCS-8)
func (p *planner) take(chosen []*pod) (taken []*pod) {
	r := &p.plan.Rollout
	n := r.Unavailable
	var full *rollout.Reason
	for _, pod := range chosen {
		if pod.serves() && n >= r.MaxUnavailable {
			if full == nil {
				full = p.full(n)
			}
			p.Wait(pod.Pod, full)
			continue
		}
		if !p.begin(pod) {
			continue
		}
		if taken = append(taken, pod); pod.serves() {
			n++
		}
	}
	return taken
}

// full is the reason of pods that wait for others to be back in service.
func (p *planner) full(out int32) *rollout.Reason {
	most := p.plan.Rollout.MaxUnavailable
	return &rollout.Reason{Rule: rollout.RuleMaxUnavailable, Limit: most, Observed: out,
		Message: fmt.Sprintf("maxUnavailable %d: %s out of service because of updates", most, number(int(out)))}
}

// begin begins the update of a pod, and tells whether it could. (SCS-11 to SCS-13)
func (p *planner) begin(pod *pod) bool {
	if p.BacksOff(&pod.View) {
		return false
	}
	c := p.change(pod)
	if err := c.update(); err != nil {
		p.PodProblem(&pod.View, err)
		p.Wait(pod.Pod, &rollout.Reason{Rule: ruleUnreadable, Message: err.Error()})
		return false
	}
	pod.Patch, pod.Kind, pod.ForUpdate = c.Patch, rollout.PatchUpdateInPlace, true
	return true
}

// update collects what the update of a pod writes. (SCS-11)
func (c *change) update() error {
	metadata, kept := injection.Metadata(c.p.set, c.pod.Annotations)
	if err := errors.Join(kept...); err != nil {
		c.p.plan.NotMerged = append(c.p.plan.NotMerged, rollout.PodWaits(c.pod.Pod, &rollout.Reason{Rule: ruleUnreadable, Message: err.Error()}))
	}
	for key, value := range metadata {
		c.SetAnnotation(key, value)
	}
	c.since = notReadySince(c.pod.Pod)
	if !c.replacePlainly() {
		if err := c.upgrade(); err != nil {
			return err
		}
		if err := c.record(); err != nil {
			return err
		}
	}
	return c.injected()
}
