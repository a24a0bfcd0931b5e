// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"time"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Plan is what a reconcile does about the requests for one pod.
type Plan struct {
	// Answers are to requests that must wait for another one of their pod. They
	// are written beside everything else.
	Answers []Write
	// Write is the new status of the request that is worked on; nil if it
	// stands already.
	Write *Write
	// Stop is the container to stop once Write is made; nil for none. There is
	// one at most: how it ends decides what comes next.
	Stop *Stop
	// Waiting tells what is left to do, and what it waits for.
	Waiting []rollout.Wait
	// RequeueAfter is when to plan again; 0 for when something changes.
	RequeueAfter time.Duration
}

// Write is a status to write, and why.
type Write struct {
	// Request is the request as it was observed, Status what to write, and Why the reason in words.
	Request *v1alpha1.ContainerRecreateRequest
	Status  *v1alpha1.ContainerRecreateRequestStatus
	Why     string
}

// Stop is a container to stop.
type Stop struct {
	// Container is the name of the container, and ID what the runtime calls it.
	Container, ID string
	// Announce is what to write into the annotation
	// v1alpha1.ContainerRecreateRequestStoppingAnnotation before everything else;
	// empty for nothing. Only forceRecreate needs it.
	Announce string
}

// What the recreation of a container waits for.
const (
	// ruleRequestAhead: another request of the pod comes first.
	ruleRequestAhead rollout.Rule = "RequestAhead"
	// ruleRuntime: the container runtime does not answer.
	ruleRuntime rollout.Rule = "Runtime"
	// ruleOutOfService: a controller has to take the pod out of service.
	ruleOutOfService rollout.Rule = "OutOfService"
	// ruleGracePeriod: unreadyGracePeriodSeconds, the limit, are not over.
	ruleGracePeriod rollout.Rule = "UnreadyGracePeriod"
	// ruleKubelet: the kubelet has to start the container again.
	ruleKubelet rollout.Rule = "Kubelet"
	// ruleNotReady: no controller has told that the container is ready.
	ruleNotReady rollout.Rule = "NotReady"
	// ruleMinStarted: the container has not been running for minStartedSeconds, the limit.
	ruleMinStarted rollout.Rule = "MinStarted"
	// ruleUnreadable: the annotation with what a controller tells is not readable.
	ruleUnreadable rollout.Rule = "Unreadable"
	// ruleNotThere: the runtime does not have the container.
	ruleNotThere rollout.Rule = "NotThere"
	// ruleOneByOne: one container is stopped at a time.
	ruleOneByOne rollout.Rule = "OneByOne"
)

// NewPlan decides what to do about the requests for a pod. It depends on nothing
// but the snapshot, which it does not change. For a nil one nothing is to be done.
func NewPlan(s *Snapshot) *Plan {
	if s == nil {
		return &Plan{}
	}
	p := &planner{Snapshot: s}
	requests := inOrder(s.Requests)
	if len(requests) == 0 {
		return &p.Plan
	}
	p.answer(requests[0], requests[1:])
	p.work(requests[0])
	return &p.Plan
}

// answer has requests wait for the chosen one: one at a time acts on a pod. They say so,
// since a controller ends a request that no agent has answered. They do not say so before
// the chosen one has been begun: otherwise they would go before it. (CRR-5.2)
func (p *planner) answer(chosen *v1alpha1.ContainerRecreateRequest, others []*v1alpha1.ContainerRecreateRequest) {
	for _, r := range others {
		why := fmt.Sprintf("ContainerRecreateRequest %s of the same pod comes first", chosen.Name)
		p.wait(r, "", ruleRequestAhead, why)
		if r.Status.Phase == "" && chosen.Status.Phase != "" {
			status := r.Status.DeepCopy()
			status.Phase, status.ObservedGeneration = v1alpha1.ContainerRecreateRequestPending, r.Generation
			p.Answers = append(p.Answers, Write{Request: r, Status: status, Why: why})
		}
	}
}

// after is the plan for the request at another version, which only the agent's
// last write has given it.
func (p *Plan) after(version string) *Plan {
	if p.Write == nil {
		return p
	}
	next, write := *p, *p.Write
	write.Request = write.Request.DeepCopy()
	write.Request.ResourceVersion = version
	next.Write = &write
	return &next
}

// wait notes what a container, or with an empty name the request, waits for: since the request is there.
func (p *Plan) wait(r *v1alpha1.ContainerRecreateRequest, container string, rule rollout.Rule, message string) *rollout.Wait {
	request := rollout.Subject{Kind: "request", Name: r.Name}
	wait := rollout.Wait{Subject: request, Reason: &rollout.Reason{Rule: rule, Message: message}, Since: r.CreationTimestamp.Time}
	if container != "" {
		wait.Subject, wait.In = rollout.Subject{Kind: "container", Name: container}, &request
	}
	p.Waiting = append(p.Waiting, wait)
	return &p.Waiting[len(p.Waiting)-1]
}

// lookAgain has another plan made after a time at the latest.
func (p *Plan) lookAgain(after time.Duration) {
	p.RequeueAfter = apply.Soonest(p.RequeueAfter, max(after, 1))
}
