// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"time"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// What holds a request up, beside the state of its pod. (CRR-7)
const (
	// ruleRequestAhead: the agent has another request of the pod to finish first.
	ruleRequestAhead rollout.Rule = "RequestAhead"
	// ruleAgentSilent: it is the turn of the node agent, and it has not taken it.
	ruleAgentSilent rollout.Rule = "AgentSilent"
	// ruleAgentWorks: the agent recreates the containers. This holds nothing up.
	ruleAgentWorks rollout.Rule = "AgentWorks"
	// ruleTTL: the request is kept for a while after its completion. This holds nothing up.
	ruleTTL rollout.Rule = "TTLSecondsAfterFinished"
)

// planHeld lists what keeps the request from its end, and has the message say what has for a minute. (CRR-7)
func (p *planner) planHeld() {
	switch p.Request.Status.Phase {
	case "": // it is completed after a minute (CRR-M3)
	case v1alpha1.ContainerRecreateRequestRecreating:
		p.holdContainers()
	default:
		p.hold("pod", p.Pod.Name, ruleRequestAhead, p.plan.Waiting[0].Reason.Message)
	}
	standing := p.Request.Status.Message
	if len(p.plan.Steps) > 0 || standing != "" && heldup.OfText(standing) == nil {
		return
	}
	text := heldup.Retell(standing, heldup.Tell(p.plan.Held, p.HeldSince, heldup.OfText(standing), p.Now))
	if text != standing {
		status := p.Request.Status.DeepCopy()
		status.Message = text
		p.plan.Steps = []Step{{Why: "say what holds it up", Status: status}}
	}
}

// hold lists something that holds the request up.
func (p *planner) hold(kind, name string, rule rollout.Rule, message string) {
	p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Kind: kind, Name: name}, Reason: &rollout.Reason{Rule: rule, Message: message}})
}

// holdContainers lists the first container that is not done. It does not come back, or the agent has not stopped or judged
// it in the time that the request allows for that.
func (p *planner) holdContainers() {
	node := p.Request.Labels[v1alpha1.ContainerRecreateRequestNodeNameLabel]
	for i := range p.Request.Spec.Containers {
		of := &p.Request.Spec.Containers[i]
		if isFinal(p.Request.Status.ContainerRecreateStates, of.Name) {
			continue
		}
		status := podstate.ContainerStatus(p.Pod, of.Name)
		switch {
		case status == nil || status.State.Running == nil || isReplaced(of, status) && !status.Ready:
			if t := heldup.OfPod(p.Pod); t.Rule != "" {
				p.hold("container", of.Name, t.Rule, fmt.Sprintf("pod %s: %s", p.Pod.Name, t.Why))
			}
		case isReplaced(of, status):
			if p.overdue(status.State.Running.StartedAt.Time, p.minStarted()) {
				p.hold("node", node, ruleAgentSilent, fmt.Sprintf("container %s is back, and the agent does not say so", of.Name))
			}
		case p.overdue(p.since(), p.stopSeconds()):
			p.hold("node", node, ruleAgentSilent, fmt.Sprintf("the agent has not stopped container %s", of.Name))
		}
		if len(p.plan.Held) > 0 {
			return
		}
	}
}

// overdue tells whether seconds have passed since a time. If not, it is looked at again when they have.
func (p *planner) overdue(since time.Time, seconds int64) bool {
	rest := since.Add(time.Duration(seconds) * time.Second).Sub(p.Now)
	if rest > 0 && (p.plan.heldAfter == 0 || rest < p.plan.heldAfter) {
		p.plan.heldAfter = rest
	}
	return rest <= 0
}

func isFinal(states []v1alpha1.ContainerRecreateRequestContainerRecreateState, name string) bool {
	for _, state := range states {
		if state.Name == name {
			return state.Phase == v1alpha1.ContainerRecreateRequestSucceeded || state.Phase == v1alpha1.ContainerRecreateRequestFailed
		}
	}
	return false
}

func (p *planner) minStarted() int64 {
	if strategy := p.Request.Spec.Strategy; strategy != nil {
		return int64(strategy.MinStartedSeconds)
	}
	return 0
}

// stopSeconds are how long the request lets the agent take until the last container is stopped: what users asked for holds nothing up.
func (p *planner) stopSeconds() int64 {
	return min((p.allowed()-silenceSeconds)*int64(len(p.Request.Spec.Containers)), int64(24*time.Hour/time.Second)*365)
}
