// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"

	"github.com/podwright/podwright/inplace/rollout"
)

// deleteSpecified deletes pods that users have marked, from the highest ordinal down, whatever the partition. One that does not
// serve goes at once, another while fewer than maxUnavailable do not. One that has to wait holds up no other. (STS-35)
func (p *planner) deleteSpecified(b *updateBudget) {
	for _, s := range slices.Backward(p.wanted) {
		switch pod := s.pod; {
		case pod == nil || !pod.own || !pod.specified || pod.terminating || pod.ended || pod.Deleted:
		case !p.out(s) && b.out >= p.limits.maxUnavailable:
			b.wait(pod)
		default:
			count(&b.out, !p.out(s))
			pod.unserving = !pod.ready()
			p.delete(pod, rollout.DeleteForScale)
		}
	}
}

// deleteBroken deletes marked pods that are not ready, while OrderedReady waits, perhaps for them. (STS-35)
func (p *planner) deleteBroken() {
	for _, s := range slices.Backward(p.wanted) {
		if pod := s.pod; pod != nil && pod.own && pod.specified && !pod.ready() && !pod.terminating && !pod.ended && !pod.Deleted {
			pod.unserving = true
			p.delete(pod, rollout.DeleteForScale)
		}
	}
}

// walkBeyond goes down the sequence much as OpenKruise 1.6 does. It updates pods that do not serve however many they are. Pods
// that serve wait while maxUnavailable others do not. (STS-34)
func (p *planner) walkBeyond(sequence []slot, b *updateBudget) {
	for _, s := range sequence {
		switch {
		case p.grow(s, b):
		case !mustUpdate(s):
		case p.stuck(s), p.out(s):
			p.update(s.pod)
		case b.out < p.limits.maxUnavailable:
			b.out++
			p.update(s.pod)
		default:
			b.wait(s.pod)
		}
	}
}
