// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"

	"github.com/podwright/podwright/inplace/rollout"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planKeep returns pods to service that prepare for their deletion although they shall
// stay. Their ordinal is wanted again, or the update is paused or undone. If the hooks
// do not allow it, such a pod is replaced when its hook releases it.
func (p *planner) planKeep() {
	var r *replacement
	for i, s := range p.wanted {
		pod := s.pod
		if pod == nil || !pod.own || pod.terminating || pod.ended ||
			pod.State != lifecyclev1alpha1.StatePreparingDelete || p.recreates(pod) {
			continue
		}
		if p.Undelete(&pod.View) {
			continue
		}
		if r == nil {
			r = p.newReplacement()
		}
		r.replace(i)
	}
}

// replacement deletes pods that are wanted, so that others come in their places.
type replacement struct {
	*planner
	down []int // the places, ascending, whose pods do not serve or will not after this reconcile; their own hook does not count
}

func (p *planner) newReplacement() *replacement {
	r := &replacement{planner: p}
	for i, s := range p.wanted {
		if !s.serves() && !s.ending() {
			r.down = append(r.down, i)
		}
	}
	return r
}

// replace deletes the pod of a place, or has its hook asked to prepare it,
// unless that has to wait.
func (r *replacement) replace(place int) {
	pod := r.wanted[place].pod
	if reason := r.holds(place); reason != nil {
		if reason != pausedUpdate || !mustUpdate(r.wanted[place]) { // otherwise the update step says so
			r.Wait(pod.Pod, reason)
		}
		return
	}
	pod.unserving = !pod.ready()
	r.delete(pod, rollout.DeleteForScale)
	if pod.leaving = pod.Deleted || pod.Patch != nil; pod.leaving {
		if i, down := slices.BinarySearch(r.down, place); !down {
			r.down = slices.Insert(r.down, i, place)
		}
	}
}

// holds says why the pod of a place is not replaced now: pause, order
// and budget hold here as elsewhere. A pod that is not ready is gone for its
// users already, so it uses up no budget.
func (r *replacement) holds(place int) *rollout.Reason {
	pod := r.wanted[place].pod
	if r.rolling != nil && r.rolling.Paused && (pod.ready() || !r.comesBack(pod)) {
		return pausedUpdate
	}
	before, isDown := slices.BinarySearch(r.down, place)
	if r.ordered {
		switch {
		case before > 0:
			return r.order("pod %s is not available", podName(r.Set.Name, r.wanted[r.down[0]].ordinal))
		case pod.ready() && len(r.down) > 0 && !(isDown && len(r.down) == 1):
			return r.order("pod %s is not available", podName(r.Set.Name, r.wanted[r.down[len(r.down)-1]].ordinal))
		}
		return nil
	}
	down := int32(len(r.down))
	if isDown {
		down--
	}
	limit := max(r.limits.maxUnavailable, 1) // OnDelete has none
	if pod.ready() && down >= limit {
		return &rollout.Reason{Rule: rollout.RuleMaxUnavailable, Limit: limit, Observed: down,
			Message: fmt.Sprintf("maxUnavailable %d: as many other pods are not available", limit)}
	}
	return nil
}

// comesBack tells whether the replacement of a pod has the same revision. (STS-3)
func (p *planner) comesBack(pod *pod) bool {
	if pod.held {
		return pod.Revision == p.RevisionValue(p.plan.Revisions.Current.Name)
	}
	return pod.Updated
}
