// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	"github.com/podwright/podwright/inplace/rollout"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// updateBudget tells which pods may be taken out of service. All wanted pods count against maxUnavailable. Among them are those
// that the update does not reach, and those that hooks have taken aside. (STS-18)
type updateBudget struct {
	*planner
	out    int32 // wanted pods that do not serve, or will not after this reconcile
	ending int32 // those of them that their preDelete hook alone keeps from serving
	first  *slot // the lowest of them; nil if all serve as the reconcile begins
	reason *rollout.Reason
}

func (p *planner) newUpdateBudget() *updateBudget {
	b := &updateBudget{planner: p}
	for i := range p.wanted {
		s := p.wanted[i]
		if !p.out(s) {
			continue
		}
		if b.first == nil {
			b.first = &p.wanted[i]
		}
		b.out++
		count(&b.ending, s.ending())
	}
	return b
}

// out tells whether a place lacks a pod that serves. A pod in a state that is not known never can be updated. It takes no place
// from others as long as it works. (STS-20)
func (p *planner) out(s slot) bool {
	if s.pod != nil && s.pod.resizing { // (STS-41)
		return true
	}
	return !s.serves() && !(s.pod != nil && unknownState(s.pod) != nil && s.works() && p.stuck(s))
}

// wait says why a pod is not taken.
func (b *updateBudget) wait(pod *pod) {
	if b.reason == nil {
		limit, among := b.limits.maxUnavailable, ""
		if b.first != nil {
			among = fmt.Sprintf(", pod %s among them", podName(b.Set.Name, b.first.ordinal))
		}
		b.reason = &rollout.Reason{Rule: rollout.RuleMaxUnavailable, Limit: limit, Observed: b.out,
			Message: fmt.Sprintf("maxUnavailable %d: as many other pods are not available%s", limit, among)}
	}
	b.Wait(pod.Pod, b.reason)
}

// take takes a pod out of service to update it, if the budget allows that. One that is out of
// service takes nothing more. One that its preDelete hook alone keeps from serving goes when
// fewer than maxUnavailable others are down. Two of them do not wait for each other.
func (b *updateBudget) take(s slot) bool {
	others := b.out
	switch {
	case s.ending():
		others -= b.ending
	case !s.pod.healthy():
		return true
	case !s.serves():
		others--
	}
	if others >= b.limits.maxUnavailable {
		return false
	}
	count(&b.out, s.serves())
	if s.ending() {
		b.ending--
	}
	return true
}

// serves tells whether users may count on the pod of a place, whatever its revision, or miss none there. One
// whose record of its update cannot be read counts as serving.
func (s slot) serves() bool {
	return s.pod != nil && (s.pod.Substituted() || s.pod.healthy() && s.works())
}

// ending tells whether a pod would serve if its deletion were not being prepared.
func (s slot) ending() bool {
	return s.pod != nil && s.pod.State == lifecyclev1alpha1.StatePreparingDelete && s.works()
}

// works tells whether a pod is available and done with its update, whatever its hooks say.
func (s slot) works() bool {
	pod := s.pod
	return pod.own && !pod.terminating && pod.settled && (!pod.Updating || pod.Unreadable)
}

// servesUpdated tells whether a pod serves at the update revision.
func (s slot) servesUpdated() bool { return s.serves() && (s.pod.Updated || s.pod.Substituted()) }
