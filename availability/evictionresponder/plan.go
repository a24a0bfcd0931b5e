// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/workload"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Plan is what to do about an Eviction now. The same Snapshot gives the same Plan.
type Plan struct {
	// Confirm says that the plan takes the pod for gone, which cannot be taken back. A cache that is
	// behind must not say that, so a reconcile first asks the API server itself, and plans anew.
	Confirm bool
	// Evict says to ask the API server to evict the pod. The rest of the plan is then that of the
	// Snapshot with the Answer.
	Evict bool
	// Note changes on the pod the annotation that it is to go; nil changes nothing.
	Note *podpatch.Patch
	// Report is what to write into the status; nil for nothing.
	Report *Report
	// Waiting says what the Eviction waits for: one wait, of the pod, since the responder has been active. Empty: for nothing, or it is
	// another responder's turn.
	Waiting []rollout.Wait
	// RequeueAfter is the time after which the plan may be another without any event; 0 when only
	// events can change it.
	RequeueAfter time.Duration
}

// Report is what a responder says of itself in the status of an Eviction.
type Report struct {
	// Heartbeat is the time of the report.
	Heartbeat metav1.Time
	// Completed says that the responder is through.
	Completed bool
	// Message is for humans.
	Message string
}

// What an Eviction waits for.
const (
	// ruleBeingDeleted: the pod is being deleted.
	ruleBeingDeleted rollout.Rule = "BeingDeleted"
	// ruleRefused: the API server has refused the eviction; it is tried again after a while.
	ruleRefused rollout.Rule = "Refused"
	// ruleRoom: the CloneSet creates another pod first. The limit is how many are to be available, the number how many are.
	ruleRoom rollout.Rule = "Room"
	// ruleEviction: the pod is about to be evicted.
	ruleEviction rollout.Rule = "Eviction"
)

// A note on a pod is renewed when it is so old, well before it expires (LC-29).
const noteAgain = lifecycle.EvictionAwaited / 2

// NewPlan decides what to do about an Eviction: nothing for a nil Snapshot, one without an Eviction,
// and if it is not this responder's turn. (EVR-1)
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Eviction == nil {
		return &Plan{}
	}
	p := &planner{Snapshot: s, plan: &Plan{}}
	switch {
	case atWork(s.Eviction):
		p.planTurn()
	case isOver(s.Eviction):
		p.planEnd()
	}
	return p.plan
}

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan
}

// planTurn plans what this responder does while it is active. (EVR-2 to EVR-4)
func (p *planner) planTurn() {
	switch {
	case !p.meant():
		p.plan.Confirm = !p.Confirmed
		p.complete("the pod is gone")
	case p.Pod.Status.Phase == corev1.PodSucceeded || p.Pod.Status.Phase == corev1.PodFailed:
		p.complete(fmt.Sprintf("the pod has ended, its phase is %s", p.Pod.Status.Phase))
	case p.Pod.DeletionTimestamp != nil:
		p.wait(&rollout.Reason{Rule: ruleBeingDeleted, Message: "the pod is being deleted"})
	case metav1.GetControllerOfNoCopy(p.Pod) == nil:
		p.complete("no workload controls the pod, which is left to the next responder")
	default:
		p.planEviction()
	}
}

// planEviction evicts the pod, once there is room, and again after a time if that was refused.
// (EVR-5 to EVR-8)
func (p *planner) planEviction() {
	if answer := p.Answer; answer != nil && p.Now.Before(answer.Until) {
		if answer.Denied {
			p.note()
		}
		p.wait(&rollout.Reason{Rule: ruleRefused, Message: answer.Message})
		p.again(answer.Until)
		return
	}
	if lacks := p.lacksRoom(); lacks != nil {
		p.note()
		p.wait(lacks)
		return
	}
	p.plan.Evict = true
	p.wait(&rollout.Reason{Rule: ruleEviction, Message: "the pod is about to be evicted"})
}

// planEnd takes the note off a pod that is no longer to go, but none that is later than the last heartbeat. That
// is another writer's. (EVR-9)
func (p *planner) planEnd() {
	if !p.meant() || p.Pod.DeletionTimestamp != nil {
		return
	}
	_, report := own(p.Eviction)
	noted, err := time.Parse(time.RFC3339, p.Pod.Annotations[lifecyclev1alpha1.EvictionDeniedAnnotation])
	last := p.Eviction.Status.Responders[report].HeartbeatTime
	if err != nil || last == nil || noted.After(last.Time) {
		return
	}
	p.plan.Note = &podpatch.Patch{}
	p.plan.Note.RemoveAnnotation(lifecyclev1alpha1.EvictionDeniedAnnotation)
}

// note notes on the pod that it is to go, so that its CloneSet makes room. (EVR-7, LC-29)
func (p *planner) note() {
	if !ofCloneSet(p.Pod) {
		return
	}
	if left := lifecycle.AwaitsEviction(p.Pod, p.Now); left > lifecycle.EvictionAwaited-noteAgain {
		p.again(p.Now.Add(left - (lifecycle.EvictionAwaited - noteAgain)))
		return
	}
	p.plan.Note = &podpatch.Patch{}
	p.plan.Note.SetAnnotation(lifecyclev1alpha1.EvictionDeniedAnnotation, p.Now.UTC().Format(time.RFC3339))
	p.again(p.Now.Add(noteAgain))
}

// ofCloneSet tells whether a CloneSet controls the pod.
func ofCloneSet(pod *corev1.Pod) bool { return workload.ControllerKind(pod) == workload.CloneSets }

// again has the plan made anew at a time, unless that is due earlier anyway.
func (p *planner) again(at time.Time) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(at.Sub(p.Now), time.Millisecond))
}
