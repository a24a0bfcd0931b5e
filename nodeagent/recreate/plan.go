// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"time"

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
	Waiting []Waiting
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

// Waiting is something that is left to do for the Request of that name, and the Reason in words why it is
// not done now. Container is empty if the reason is about a whole request.
type Waiting struct{ Request, Container, Reason string }

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

// answer has requests wait for the chosen one: one at a time acts on a pod. They
// say so, since a controller ends a request that no agent has answered; but not
// before the chosen one has been begun, for which they would go first. (CRR-5.2)
func (p *planner) answer(chosen *v1alpha1.ContainerRecreateRequest, others []*v1alpha1.ContainerRecreateRequest) {
	for _, r := range others {
		why := fmt.Sprintf("ContainerRecreateRequest %s of the same pod comes first", chosen.Name)
		p.wait(r, "", why)
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

// wait notes what a container waits for.
func (p *Plan) wait(r *v1alpha1.ContainerRecreateRequest, container, reason string) {
	p.Waiting = append(p.Waiting, Waiting{r.Name, container, reason})
}

// lookAgain has another plan made after a time at the latest.
func (p *Plan) lookAgain(after time.Duration) {
	p.RequeueAfter = apply.Soonest(p.RequeueAfter, max(after, 1))
}
