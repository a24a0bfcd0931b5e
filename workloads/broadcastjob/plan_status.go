// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planRunning plans a job that has not finished.
func (p *planner) planRunning() {
	if p.status.StartTime == nil { // BJ-3
		p.status.StartTime = ptr.To(p.now())
	}
	switch p.status.Phase {
	case v1alpha1.PhaseCompleted: // it has been made a job that never ends (BJ-15)
		p.status.CompletionTime = nil
		p.status.Conditions = slices.DeleteFunc(slices.Clone(p.status.Conditions), func(c v1alpha1.JobCondition) bool { return c.Type == v1alpha1.JobComplete })
		p.status.Phase = v1alpha1.PhaseRunning
	case "":
		p.status.Phase = v1alpha1.PhaseRunning
	}
	p.count()
	before := p.status.Phase
	var err error
	if p.plan.Parallelism, err = parallelism(p.Job.Spec.Parallelism, p.status.Desired); err != nil {
		p.problem(err)
	}
	if reason := p.pause(); reason != nil {
		p.status.Phase = v1alpha1.PhasePaused
		p.wait(reason)
		if before != v1alpha1.PhasePaused && reason.Rule == ruleFailedPod {
			p.event(Event{Type: corev1.EventTypeWarning, Reason: eventPaused, Message: "The job is paused: " + reason.Message})
		}
		return
	}
	if before == v1alpha1.PhasePaused {
		p.status.Phase = v1alpha1.PhaseRunning
		p.event(Event{Type: corev1.EventTypeNormal, Reason: eventContinue, Message: "The job goes on"})
	}
	if p.planFailure() {
		return
	}
	p.deleteMisfits()
	p.count()
	if err != nil {
		p.wait(&rollout.Reason{Rule: ruleProblem, Message: err.Error()})
	} else {
		p.createPods()
	}
	p.planCompletion()
}

// pause returns why the job is to stand still; nil if it is not. (BJ-8, BJ-9)
func (p *planner) pause() *rollout.Reason {
	policy := p.Job.Spec.FailurePolicy.Type
	switch {
	case p.Job.Spec.Paused:
		return &rollout.Reason{Rule: rollout.RulePaused, Message: "spec.paused is true"}
	case policy == v1alpha1.FailurePolicyTypePause && p.status.Failed > 0:
		return &rollout.Reason{Rule: ruleFailedPod, Observed: p.status.Failed,
			Message: fmt.Sprintf("%d pods have failed, and the failure policy is Pause: delete the failed pods to run their nodes again, or change the policy", p.status.Failed)}
	}
	return nil
}

// planFailure fails the job if it must, and tells whether it has. (BJ-9 to BJ-11)
func (p *planner) planFailure() bool {
	policy := p.Job.Spec.FailurePolicy.Type
	if (policy == v1alpha1.FailurePolicyTypeFailFast || policy == "") && p.status.Failed > 0 {
		p.fail(eventFailedPod, "failure policy is FailurePolicyTypeFailFast and failed pod is found")
		return true
	}
	deadline, limited := p.deadline()
	if limited && !deadline.After(p.Now) {
		p.fail(eventDeadlineExceeded, fmt.Sprintf("Job %s/%s was active longer than specified deadline", p.Job.Namespace, p.Job.Name))
		return true
	}
	if limited {
		p.requeueAfter(deadline.Sub(p.Now))
	}
	return false
}

// fail ends the job: its active pods are deleted, and their nodes have failed. That is
// written before the first of them is deleted, so that it does not depend on who lives
// to count them. (BJ-11)
func (p *planner) fail(event, message string) {
	p.deleteActive(false)
	p.active = nil
	for i := range p.nodes {
		if n := &p.nodes[i]; n.state == Active {
			n.state = Failed
			p.results[n.name] = v1alpha1.NodeFailed
		}
	}
	p.count()
	p.end(v1alpha1.PhaseFailed, v1alpha1.JobFailed, message)
	p.condition(v1alpha1.JobStalled, message)
	p.event(Event{Type: corev1.EventTypeWarning, Reason: event, Message: message})
}

// planCompletion ends the job if every desired node has a result, and no pod that runs is to be deleted. (BJ-13)
func (p *planner) planCompletion() {
	s := &p.status
	leaves := func(d Deletion) bool { return d.Active }
	if !p.always() || s.Desired == 0 || s.Succeeded+s.Failed < s.Desired || slices.ContainsFunc(p.plan.Delete, leaves) || slices.ContainsFunc(p.late, leaves) {
		return
	}
	message := fmt.Sprintf("Job completed, %d pods succeeded, %d pods failed", s.Succeeded, s.Failed)
	p.end(v1alpha1.PhaseCompleted, v1alpha1.JobComplete, message)
	p.deleteRestarting()
	p.event(Event{Type: corev1.EventTypeNormal, Reason: eventJobComplete, Message: message})
}

// end ends the job.
func (p *planner) end(phase v1alpha1.BroadcastJobPhase, condition v1alpha1.JobConditionType, message string) {
	p.plan.StatusFirst = true
	p.plan.RequeueAfter = 0 // the deadline no longer matters
	s := &p.status
	s.Phase, s.CompletionTime = phase, ptr.To(p.now())
	p.setTerminating("")
	p.condition(condition, message)
	if p.always() {
		p.expire(s.CompletionTime)
	}
}

// condition says how the job has ended.
func (p *planner) condition(of v1alpha1.JobConditionType, message string) {
	p.status.Conditions = append(slices.DeleteFunc(slices.Clone(p.status.Conditions), func(c v1alpha1.JobCondition) bool { return c.Type == of }),
		v1alpha1.JobCondition{
			Type: of, Status: corev1.ConditionTrue, LastProbeTime: p.now(), LastTransitionTime: p.now(),
			Reason: string(of), Message: message,
		})
}

// planOver plans a job that has finished: what is left of its pods if it has
// failed, and the end of its time. (BJ-2, BJ-11)
func (p *planner) planOver() {
	for _, pod := range p.Pods {
		if p.owns(pod) {
			p.take(pod)
		}
	}
	if p.Job.Status.Phase == v1alpha1.PhaseFailed {
		p.deleteActive(false)
	} else {
		p.deleteRestarting()
	}
	p.plan.DeleteJob = p.expire(p.Job.Status.CompletionTime)
}

// expire tells whether a job that finished at that time is to be deleted, or asks to
// be called when it is. (BJ-14)
func (p *planner) expire(finished *metav1.Time) bool {
	ttl := p.Job.Spec.CompletionPolicy.TTLSecondsAfterFinished
	if finished == nil || ttl == nil || p.Job.DeletionTimestamp != nil {
		return false
	}
	at := finished.Add(time.Duration(*ttl) * time.Second)
	if p.Job.Status.CompletionTime != nil && !at.After(p.Now) {
		return true
	}
	p.requeueAfter(at.Sub(p.Now))
	return false
}

// maxDeadline is more than a century, in seconds: as good as no limit, and far
// from what a time.Duration cannot hold.
const maxDeadline = 1 << 32

// deadline is when the job fails; false if it has no limit. It is found anew by
// every reconcile, so that a restart loses nothing. (BJ-10)
func (p *planner) deadline() (time.Time, bool) {
	seconds := p.Job.Spec.CompletionPolicy.ActiveDeadlineSeconds
	if !p.always() || seconds == nil || *seconds > maxDeadline {
		return time.Time{}, false
	}
	return p.status.StartTime.Add(time.Duration(*seconds) * time.Second), true
}

// finishStatus has the status written if it differs from the present one.
func (p *planner) finishStatus() {
	if p.results != nil { // the job is not over
		writeResults(&p.status, p.Job.UID, p.results, p.unnamed)
	}
	if !sameStatus(&p.Job.Status, &p.status) {
		p.plan.Status = &p.status
	}
}

// sameStatus tells whether a status need not be written.
func sameStatus(a, b *v1alpha1.BroadcastJobStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration && a.Phase == b.Phase &&
		a.StartTime.Equal(b.StartTime) && a.CompletionTime.Equal(b.CompletionTime) &&
		a.Desired == b.Desired && a.Active == b.Active && a.Succeeded == b.Succeeded && a.Failed == b.Failed &&
		sameConditions(a.Conditions, b.Conditions) && maps.Equal(a.NodeResults, b.NodeResults) &&
		maps.Equal(a.MoreNodeResults, b.MoreNodeResults)
}
