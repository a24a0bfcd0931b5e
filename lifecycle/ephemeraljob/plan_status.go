// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// conclude says in one word how far the job is, and whether it has finished. (EJ-16 to EJ-18)
func (p *planner) conclude() {
	s := &p.status
	switch done := s.Succeeded + s.Failed; {
	case len(p.plan.Problems) > 0:
		s.Phase = v1alpha1.EphemeralJobError
	case s.Matches == 0:
		s.Phase = v1alpha1.EphemeralJobWaiting
	case done == s.Matches && s.Failed == 0:
		message := fmt.Sprintf("All containers have succeeded in %d pods", s.Succeeded)
		p.end(v1alpha1.EphemeralJobSucceeded, corev1.EventTypeNormal, eventSucceeded, message)
		p.condition(v1alpha1.EphemeralJobConditionSucceeded, true, v1alpha1.EphemeralJobReasonSucceeded, message)
		return
	case done == s.Matches:
		p.end(v1alpha1.EphemeralJobFailed, corev1.EventTypeWarning, eventFailed, failures(s))
		return
	case s.Running > 0:
		s.Phase = v1alpha1.EphemeralJobRunning
	case s.Waiting == s.Matches:
		s.Phase = v1alpha1.EphemeralJobWaiting
	default:
		s.Phase = v1alpha1.EphemeralJobUnknown
	}
	if p.Job.Spec.Paused {
		if len(p.plan.Problems) == 0 {
			s.Phase = v1alpha1.EphemeralJobPaused
		}
		return
	}
	deadline, limited := p.deadline()
	switch {
	case limited && !deadline.After(p.Now):
		p.overdue = true
		p.end(v1alpha1.EphemeralJobFailed, corev1.EventTypeWarning, eventDeadlineExceeded, p.tooLong())
	case limited:
		p.requeueAfter(deadline.Sub(p.Now))
	}
}

func failures(s *v1alpha1.EphemeralJobStatus) string {
	return fmt.Sprintf("Containers have failed in %d of %d pods", s.Failed, s.Matches)
}

func (p *planner) tooLong() string {
	return fmt.Sprintf("The job was active for more than %d seconds", *p.Job.Spec.ActiveDeadlineSeconds)
}

// end ends the job. The time after which it is deleted begins.
func (p *planner) end(phase v1alpha1.EphemeralJobPhase, kind, reason, message string) {
	p.plan.RequeueAfter = 0 // what was waited for no longer matters
	p.status.Phase, p.status.CompletionTime = phase, ptr.To(p.now())
	p.event(kind, reason, message)
	p.expire(p.status.CompletionTime)
}

// maxDeadline is more than a century, in seconds: as good as no limit, and far
// from what a time.Duration cannot hold.
const maxDeadline = 1 << 32

// deadline is when the job fails; false if it has no limit. (EJ-18)
func (p *planner) deadline() (time.Time, bool) {
	seconds := p.Job.Spec.ActiveDeadlineSeconds
	if seconds == nil || *seconds > maxDeadline {
		return time.Time{}, false
	}
	return p.status.StartTime.Add(time.Duration(max(*seconds, 0)) * time.Second), true
}

// expire tells whether a job that finished at that time is to be deleted, or asks to
// be called when it is. (EJ-19)
func (p *planner) expire(finished *metav1.Time) bool {
	ttl := ptr.Deref(p.Job.Spec.TTLSecondsAfterFinished, v1alpha1.DefaultEphemeralJobTTLSecondsAfterFinished)
	at := finished.Add(time.Duration(max(ttl, 0)) * time.Second)
	if p.Job.Status.CompletionTime != nil && !at.After(p.Now) {
		return true
	}
	p.requeueAfter(at.Sub(p.Now))
	return false
}

// report sets the conditions. (EJ-21)
func (p *planner) report() {
	s, wrong := &p.status, len(p.plan.Problems) > 0
	for i := range p.targets {
		if t := &p.targets[i]; notInjected(*t) && t.pod.Spec.NodeName == "" {
			p.stuck = append(p.stuck, rollout.PodWaits(t.pod, &rollout.Reason{Rule: ruleNotStarted, Message: t.idle()}))
		}
	}
	if p.condition(v1alpha1.EphemeralJobConditionError, wrong, v1alpha1.EphemeralJobReasonError, p.problems(), v1alpha1.EphemeralJobReasonValid) {
		p.event(corev1.EventTypeWarning, eventInvalidSpec, p.problems())
	}
	p.condition(v1alpha1.EphemeralJobMatchedEmpty, s.Matches == 0 && !wrong, v1alpha1.EphemeralJobReasonMatchEmpty, "The job is for no pod",
		v1alpha1.EphemeralJobReasonMatched)
	switch {
	case p.overdue:
		p.condition(v1alpha1.EphemeralJobConditionFailed, true, v1alpha1.EphemeralJobReasonDeadlineExceeded, p.tooLong())
	case s.Failed > 0:
		p.condition(v1alpha1.EphemeralJobConditionFailed, true, v1alpha1.EphemeralJobReasonCreateFailed, failures(s))
	}
	p.condition(v1alpha1.EphemeralJobNamesTaken, len(p.plan.Skipped) > 0, v1alpha1.EphemeralJobReasonTaken,
		"Left out are pods with ephemeral containers of others, which can never be removed: "+shorten(p.plan.Skipped)+
			". If a name is taken, use another one, or the annotation "+v1alpha1.EphemeralJobUniqueNamesAnnotation, v1alpha1.EphemeralJobReasonFree)
	p.condition(v1alpha1.EphemeralJobNotStarted, len(p.stuck) > 0, v1alpha1.EphemeralJobReasonNotStarted, shorten(p.stuck), v1alpha1.EphemeralJobReasonStarted)
	if refused := p.refused(); p.Refusals.Tried || !slices.ContainsFunc(p.targets, notInjected) { // else it is not known any more
		p.condition(v1alpha1.EphemeralJobRefused, len(refused) > 0, v1alpha1.EphemeralJobReasonRefused, shorten(refused), v1alpha1.EphemeralJobReasonAccepted)
	}
}

func notInjected(t target) bool { return t.state == NotInjected }

// problems says what is wrong with the spec.
func (p *planner) problems() string {
	words := make([]string, len(p.plan.Problems))
	for i, problem := range p.plan.Problems {
		words[i] = problem.Err.Error()
	}
	return strings.Join(words, "; ")
}

// refused lists the targets whose injections were refused.
func (p *planner) refused() (refused []rollout.Wait) {
	for i := range p.targets {
		t := &p.targets[i]
		if refusal, was := p.Refusals.Pods[t.pod.UID]; was && t.state == NotInjected {
			refused = append(refused, rollout.PodWaits(t.pod, &rollout.Reason{Message: refusal.Message}))
		}
	}
	return refused
}

// shownPods is how many pods one condition names.
const shownPods = 3

// shorten names the first of some pods, each with its reason.
func shorten(waits []rollout.Wait) string {
	var words []string
	for _, w := range waits[:min(len(waits), shownPods)] {
		words = append(words, w.String())
	}
	if more := len(waits) - shownPods; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}

// condition sets a condition, and tells whether it begins to hold. One that does not hold is
// set only if it is known, with the reason why not.
func (p *planner) condition(t v1alpha1.EphemeralJobConditionType, holds bool, reason, message string, whyNot ...string) (begins bool) {
	all := p.status.Conditions
	i := slices.IndexFunc(all, func(c v1alpha1.EphemeralJobCondition) bool { return c.Type == t })
	want := v1alpha1.EphemeralJobCondition{Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastProbeTime: p.now(), LastTransitionTime: p.now()}
	switch {
	case !holds && i < 0:
		return false
	case !holds:
		want.Status, want.Reason, want.Message = corev1.ConditionFalse, whyNot[0], ""
	}
	if i < 0 {
		p.status.Conditions = append(all, want)
		return true
	}
	if was := &all[i]; was.Status == want.Status {
		if was.Reason == want.Reason && was.Message == want.Message {
			return false
		}
		want.LastTransitionTime = was.LastTransitionTime
	}
	begins = holds && all[i].Status != want.Status
	all[i] = want
	return begins
}

// progressInterval is the time between two writes of the status that tell nothing but
// progress: when many pods are injected, each of them changes it.
const progressInterval = time.Second

// finishStatus has the status written if it differs from the present one. Progress may
// have to wait, and other words about what holds the job up are not worth it. (EJ-22, EJ-26)
func (p *planner) finishStatus() {
	old := &p.Job.Status
	was, is := *old, p.status
	was.Conditions, is.Conditions = heldUp.ToCompare(old.Conditions, p.status.Conditions)
	if equality.Semantic.DeepEqual(&was, &is) {
		return
	}
	due := p.Reported.Add(progressInterval).Sub(p.Now)
	if due > 0 && !p.Reported.IsZero() && old.ObservedGeneration == p.status.ObservedGeneration && old.Phase == p.status.Phase &&
		old.StartTime != nil && old.CompletionTime.Equal(p.status.CompletionTime) && sameConditions(old.Conditions, p.status.Conditions) {
		p.requeueAfter(due)
		return
	}
	p.plan.Status = &p.status
}

// sameConditions tells whether conditions differ in nothing but their messages.
func sameConditions(a, b []v1alpha1.EphemeralJobCondition) bool {
	return slices.EqualFunc(a, b, func(a, b v1alpha1.EphemeralJobCondition) bool {
		return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason
	})
}
