// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"slices"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// walk goes through the containers in the order of the spec, until one has to be stopped or
// waited for. It completes the request when all are done. (CRR-5.3.6 to CRR-5.3.8)
func (p *planner) walk() {
	states := p.status.ContainerRecreateStates
	done := 0
	for i := range states {
		switch states[i].Phase {
		case v1alpha1.ContainerRecreateRequestSucceeded:
			done++
		case v1alpha1.ContainerRecreateRequestFailed:
			if p.strategy.FailurePolicy != v1alpha1.ContainerRecreateRequestFailurePolicyIgnore {
				p.complete("")
				return
			}
			done++
		case v1alpha1.ContainerRecreateRequestRecreating:
			states[i].IsKilled = true
			if p.strategy.OrderedRecreate {
				p.waitAfter(i, "containers are recreated one after the other, and the one before is not back")
				return
			}
		default:
			p.stop(i)
			return
		}
	}
	if done == len(states) {
		p.complete("")
	}
}

// stop plans to stop a container, whose state changes when the stop has returned. The ID
// of a container tells later whether it was replaced. If the request wants one stopped
// all the same, its ID is written down first. (CRR-5.3.7)
func (p *planner) stop(i int) {
	state := &p.status.ContainerRecreateStates[i]
	c := p.newest[state.Name]
	if c == nil {
		p.wait(p.request, state.Name, ruleNotThere, "the runtime does not have it")
		p.waitAfter(i, "the container before is not there")
		return
	}
	p.waitAfter(i, "one container is stopped at a time")
	stop := &Stop{Container: state.Name, ID: c.GetId()}
	if p.strategy.ForceRecreate && p.announced(state.Name) != p.fullID(c) {
		recorded := p.request.Status.ContainerRecreateStates
		if i > len(recorded) || !slices.Equal(recorded[:i], p.status.ContainerRecreateStates[:i]) {
			return // what stands in the annotation counts until the states before are written
		}
		stop.Announce = state.Name + "=" + p.fullID(c)
	}
	p.Stop = stop
}

// waitAfter notes for the containers after one that they wait.
func (p *planner) waitAfter(i int, reason string) {
	for _, s := range p.status.ContainerRecreateStates[i+1:] {
		if s.Phase == v1alpha1.ContainerRecreateRequestPending {
			p.wait(p.request, s.Name, ruleOneByOne, reason)
		}
	}
}
