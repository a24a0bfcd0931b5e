// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Plan is what to do about a request now: data, to be looked at, compared and
// applied. The same Snapshot gives the same Plan.
type Plan struct {
	// Confirm says that the plan draws from the pod, or from its absence, what
	// cannot be taken back. This is that the request is over since its pod is gone, or
	// that the pod is in service again. A cache that is behind must not say
	// that, so a reconcile first asks the API server itself, and plans anew.
	Confirm bool
	// Steps are the writes to make, in this order, each only once the one
	// before it has been made. Wherever that is cut short, what stands by then
	// is enough for a later plan to put the pod back into service.
	Steps []Step
	// Held lists what keeps the request from its end. What has for a minute is told by the message of the status. (CRR-7)
	Held []rollout.Wait
	// Waiting says what the request waits for, and for how long if that is
	// known: one wait, of the whole request. Empty: for nothing any more.
	Waiting []rollout.Wait
	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration

	heldAfter time.Duration // after which something begins to hold the request up; 0 for nothing
}

// Step is one write, and why it is made. Exactly one of Status, Change, Pod and
// Delete is set.
type Step struct {
	// Why says in words why the write is made.
	Why string
	// Status is the status to write.
	Status *v1alpha1.ContainerRecreateRequestStatus
	// Change is what to change about the metadata of the request.
	Change *Change
	// Pod is what to change about Snapshot.Pod.
	Pod *podpatch.Patch
	// Delete deletes the request.
	Delete bool
}

// NewPlan decides what to do about a request: nothing for a nil Snapshot, or one without a
// Request. (CRR-4)
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Request == nil {
		return &Plan{}
	}
	p := &planner{Snapshot: s, plan: &Plan{Confirm: !s.Confirmed && s.doubtful()}}
	switch {
	case s.over():
		p.planEnd()
		return p.plan
	case p.planCompletion():
		return p.plan
	case s.Request.Status.Phase == v1alpha1.ContainerRecreateRequestRecreating:
		p.planWork()
	case s.Request.Status.Phase == "":
		p.wait(ruleAgentSilent, p.since(), "the node agent has not answered yet, "+p.onNode())
	default:
		p.wait(ruleRequestAhead, p.since(), "the node agent has another request of the pod to finish first, "+p.onNode())
	}
	p.planHeld()
	return p.plan
}

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan
}

// planCompletion completes a request that nothing good can come of any more. It
// returns false if there is still hope. (CRR-M2 to CRR-M4, CRR-M8, CRR-M9)
func (p *planner) planCompletion() bool {
	since, deadline := p.since(), p.Request.Spec.ActiveDeadlineSeconds
	// All times are asked about: the plan is looked at again at the first.
	silent := p.Request.Status.Phase == "" && p.due(since, v1alpha1.ContainerRecreateResponseSeconds)
	lost := p.lost()
	late := deadline != nil && p.due(since, *deadline)
	switch {
	case !p.meant():
		p.complete(v1alpha1.ContainerRecreateMessagePodGone, fmt.Sprintf("there is no pod %s with the UID %q, which the label %s names",
			p.Request.Spec.PodName, p.Request.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel], v1alpha1.ContainerRecreateRequestPodUIDLabel))
	case p.leaving():
		p.complete(v1alpha1.ContainerRecreateMessagePodGone, fmt.Sprintf("pod %s is being deleted", p.Pod.Name))
	case p.static():
		p.complete(v1alpha1.ContainerRecreateMessageStaticPod, fmt.Sprintf("pod %s is the mirror of a static one", p.Pod.Name))
	case silent:
		p.complete(v1alpha1.ContainerRecreateMessageNoResponse, fmt.Sprintf("no node agent has answered in %d seconds, %s",
			v1alpha1.ContainerRecreateResponseSeconds, p.onNode()))
	case late:
		p.complete(v1alpha1.ContainerRecreateMessageDeadline, fmt.Sprintf("activeDeadlineSeconds of %d are over", *deadline))
	case lost:
		p.complete(v1alpha1.ContainerRecreateMessageNoResponse, fmt.Sprintf("the pod is out of service, and the node agent has done nothing since %s, %s",
			p.Silent.UTC().Format(time.RFC3339), p.onNode()))
	default:
		return false
	}
	return true
}

// maxClockSkew is by how much the clocks of API server and controller may differ
// without a request being ended early.
const maxClockSkew = 15 * time.Minute

// since is from when a request waits: from when the controller knows of it, by its own
// clock. The creation, by the clock of the API server, bounds that. A controller that is
// started again does not wait anew for what is certainly older.
func (p *planner) since() time.Time {
	creation := p.Request.CreationTimestamp.Time
	if p.Seen.IsZero() {
		return creation
	}
	if bound := creation.Add(maxClockSkew); bound.Before(p.Seen) {
		return bound
	}
	return p.Seen
}

// complete plans the end of the request. A container that is stopped and not back has failed; other states stay as the node agent
// left them. (CRR-M4)
func (p *planner) complete(message, why string) {
	status := p.Request.Status.DeepCopy()
	status.ObservedGeneration = p.Request.Generation
	now := metav1.NewTime(p.Now.Truncate(time.Second))
	status.Phase, status.CompletionTime, status.Message = v1alpha1.ContainerRecreateRequestCompleted, &now, message
	for i := range status.ContainerRecreateStates {
		if state := &status.ContainerRecreateStates[i]; state.Phase == v1alpha1.ContainerRecreateRequestRecreating {
			state.Phase, state.Message = v1alpha1.ContainerRecreateRequestFailed, "it was not back when the request ended: "+message
		}
	}
	p.plan.Steps = []Step{{Why: "complete: " + why, Status: status}}
	p.plan.RequeueAfter = 0
}

// change plans a change of the request, unless it is empty.
func (p *planner) change(c Change, why string) {
	if !c.empty() {
		p.plan.Steps = append(p.plan.Steps, Step{Why: why, Change: &c})
	}
}

// mostSeconds are as many as a duration can hold.
const mostSeconds = int64(math.MaxInt64 / time.Second)

// due tells whether seconds have passed since a time. If they have not, the
// plan is looked at again when they will have.
func (p *planner) due(since time.Time, seconds int64) bool {
	at := since.Add(time.Duration(min(seconds, mostSeconds)) * time.Second)
	rest := at.Sub(p.Now)
	if rest <= 0 {
		return true
	}
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, rest)
	return false
}

// wait records what the request waits for, and since when.
func (p *planner) wait(rule rollout.Rule, since time.Time, message string) *rollout.Reason {
	reason := &rollout.Reason{Rule: rule, Message: message}
	p.plan.Waiting = []rollout.Wait{{Reason: reason, Since: since}}
	return reason
}

// onNode says on which node to look for an agent that does not do its work.
func (p *planner) onNode() string {
	return fmt.Sprintf("it runs on node %q", p.Request.Labels[v1alpha1.ContainerRecreateRequestNodeNameLabel])
}
