// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"cmp"
	"slices"

	"github.com/podwright/podwright/inplace/rollout"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// updateBroken updates a pod although others are waited for, if it is not ready
// and that may be because of the revision it is at. Otherwise a broken update
// could never be taken back. Pods that are ready stay, for the reason that is
// given to those from one on.
func (p *planner) updateBroken(sequence []slot, from int, waiting *rollout.Reason) {
	broken, stage := p.broken(sequence), p.Stage
	if len(p.plan.Create) > 0 { // those come while lower pods are available, and show whether the update works
		p.Stage = &p.plan.Otherwise
	}
	defer func() { p.Stage = stage }()
	switch {
	case p.finishPrepared(sequence[from:], waiting, broken):
		if broken != nil { // those pods show it as well
			p.Wait(broken.Pod, waiting)
		}
	case broken != nil:
		broken.unserving = true
		p.update(broken)
		if p.InOtherwise() && (broken.Deleted || broken.Kind == rollout.PatchUpdateInPlace) {
			p.Wait(broken.Pod, waiting) // as long as pods are created
		}
	}
}

// finishPrepared updates pods that have been prepared for it, and tells whether
// there is one. They have counted as unavailable since, and what they wait for may
// wait for them. It says why the others stay, but one.
func (p *planner) finishPrepared(slots []slot, waiting *rollout.Reason, but *pod) (some bool) {
	for _, s := range slots {
		switch {
		case !mustUpdate(s) || s.pod == but:
		case s.pod.PreparedUpdate():
			p.update(s.pod)
			if !s.pod.Deleted && s.pod.Kind != rollout.PatchUpdateInPlace {
				continue
			}
			if some = true; p.Stage == &p.plan.Otherwise {
				p.Wait(s.pod.Pod, waiting)
			}
		default:
			p.Wait(s.pod.Pod, waiting)
		}
	}
	return some
}

// broken is the pod to update although the update waits for others. That is one that is not ready at a revision that is wanted no
// more, or the next one in order. It is nil while a pod is terminating. Of several it is the lowest one, which may hold up the
// creation of others. One of the current revision is taken only if there is no other.
func (p *planner) broken(sequence []slot) *pod {
	works := p.works()
	spreads := p.spreads(works)
	var current, other *pod
	next := true // all pods before are updated and available
	for _, s := range sequence {
		switch pod := s.pod; {
		case pod == nil:
		case pod.terminating:
			return nil
		case !mustUpdate(s), p.stuck(s):
			next = next && pod.Available
		case pod.ready(), pod.PreparedUpdate():
			next = next && !p.ordered // with Parallel those may wait for this very pod
		case pod.prepared(), !p.isCurrent(pod):
			other = pod
		case !spreads && (next || p.givenUp(works)):
			current = pod
		}
	}
	return cmp.Or(other, current)
}

// works says at which revisions, by their labels, a pod is available. One whose
// update in place is under way may still run what it ran before.
func (p *planner) works() map[string]bool {
	works := map[string]bool{}
	for _, pod := range p.pods {
		if pod.Available && !pod.Updating {
			works[pod.Revision] = true
		}
	}
	return works
}

// spreads tells whether pods that are not ready would take the update farther,
// although the pods that have it do not work. A bad image would get out of hand
// whenever something else makes the other pods unready. A revision that pods go
// back to has been the current one.
func (p *planner) spreads(works map[string]bool) bool {
	return !works[p.RevisionValue(p.plan.Revisions.Update.Name)] && !p.goesBack() && slices.ContainsFunc(p.wanted, func(s slot) bool {
		return s.pod != nil && (s.pod.own || s.pod.adopted()) && s.pod.Updated && !s.pod.terminating
	})
}

// goesBack tells whether the update is one to an older revision.
func (p *planner) goesBack() bool {
	r := &p.plan.Revisions
	return r.Create == nil && r.Update.CreationTimestamp.Before(&r.Current.CreationTimestamp)
}

func (p *planner) isCurrent(pod *pod) bool {
	return pod.Revision == p.RevisionValue(p.plan.Revisions.Current.Name)
}

// prepared tells whether its deletion or update is being prepared, which alone
// may keep a pod from being ready.
func (p *pod) prepared() bool {
	return p.State == lifecyclev1alpha1.StatePreparingDelete || p.PreparedUpdate()
}

// givenUp tells whether the current revision is not wanted any more, or none of
// its pods works.
func (p *planner) givenUp(works map[string]bool) bool {
	return p.goesBack() || !works[p.RevisionValue(p.plan.Revisions.Current.Name)]
}
