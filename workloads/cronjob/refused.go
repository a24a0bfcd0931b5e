// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// RefusedAnnotation is on an AdvancedCronJob whose newest job the API server has
	// refused for ten seconds: the scheduled time, in RFC 3339. That job is tried again, also after a
	// restart of the controller. It stays until the job is created. (ACJ-13.2)
	RefusedAnnotation = "advancedcronjob.podwright.io/refused"
	// timeToLiveAnnotation is on a job for as long as its scheduled time stands in RefusedAnnotation:
	// the ttlSecondsAfterFinished that it gets after that. So it cannot be gone before it was seen. (ACJ-13.2)
	timeToLiveAnnotation = "advancedcronjob.podwright.io/ttl-seconds-after-finished"
)

const (
	// refusedFor is how long a job must be late before it is written down that the API
	// server refuses it. Most refusals are over by then.
	refusedFor = 10 * time.Second
	// firstWait and mostWait limit the time to the next try of a job that is refused. (ACJ-13.5)
	firstWait = time.Second
	mostWait  = 5 * time.Minute
	// refusalEvent is after how long the event about a refusal is repeated: the API server keeps events for an hour.
	refusalEvent = time.Hour
)

// Refusal says that the API server has refused a job.
type Refusal struct {
	// Scheduled is the time of the job.
	Scheduled time.Time
	// Until is when it is tried again. Zero: not at all, as the next try would be refused like the last one.
	Until time.Time
	// Message is the answer of the API server.
	Message string
}

// refused is what is remembered of jobs that were refused, one after another.
type refused struct {
	Refusal
	of         types.UID
	generation int64
	wait       time.Duration // to the next try
}

// is tells whether it is about a cron job with its present spec.
func (r *refused) is(cronJob *v1alpha1.AdvancedCronJob) bool {
	return r.of == cronJob.UID && r.generation == cronJob.Generation
}

// refuse remembers a refusal, and has the job tried again, whichever scheduled time it is about. The wait is twice as long
// each time. What the API server finds invalid is not tried again. (ACJ-13.5)
func (a *applier) refuse(ctx context.Context, err error) error {
	start, cronJob, now := a.plan.Start, a.snapshot.CronJob, a.options.Clock.Now()
	r := a.refusals.Get(a.Key)
	if !r.is(cronJob) {
		r = refused{of: cronJob.UID, generation: cronJob.Generation}
	}
	r.Refusal = Refusal{Scheduled: start.Scheduled, Message: err.Error()}
	if !apierrors.IsInvalid(err) {
		r.wait = min(max(2*r.wait, firstWait), mostWait)
		r.Until = now.Add(r.wait)
	}
	a.refusals.Set(a.Key, r)
	if r.Until.Sub(start.Scheduled) >= refusedFor && (a.plan.Next.IsZero() || r.Until.Before(a.plan.Next)) {
		err = errors.Join(err, a.setRefused(ctx, start.Scheduled))
	}
	return err
}

// isRefused tells whether the job that is due was refused, and is not to be tried now. (ACJ-13.5)
func (p *planner) isRefused() bool {
	r := p.Refused
	if r == nil || !r.Scheduled.Equal(p.plan.Due) {
		return false
	}
	again := "it is tried again at the next scheduled time, or when the spec changes"
	if !r.Until.IsZero() {
		wait := r.Until.Sub(p.Now)
		if wait <= 0 || wait > mostWait { // the clock was set back
			return false
		}
		p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, wait)
		again = "it is tried again at " + r.Until.In(p.Now.Location()).Format(time.RFC3339)
	}
	p.wait(ruleRefused, fmt.Sprintf("the API server refuses %s, %s: %s", p.nameFor(p.plan.Due), again, r.Message))
	return true
}

// ruleRefused is the rule by which a job waits that the API server has refused.
const ruleRefused rollout.Rule = "Refused"

// refusedAt is the scheduled time that stands in RefusedAnnotation; zero for none.
func (s *Snapshot) refusedAt() time.Time {
	at, err := time.Parse(time.RFC3339, s.CronJob.Annotations[RefusedAnnotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

// planRefused finds out whether the job that was refused is there by now, and which jobs get their time to live. (ACJ-13.2)
func (p *planner) planRefused() {
	at := p.refusedAt()
	if !at.IsZero() && (p.has(p.nameFor(at)) || p.Started.Equal(at)) {
		p.plan.Created = at
		at = time.Time{}
	}
	for _, c := range p.plan.Children {
		if c.TimeToLive != nil && !c.Deleting && (at.IsZero() || !c.Scheduled.Equal(at)) {
			p.plan.Release = append(p.plan.Release, c)
		}
	}
}

// withholdTimeToLive has a job stay until it was seen. What was refused before is created while RefusedAnnotation tells of it,
// and would be created again if it were gone. (ACJ-13.2)
func (s *Start) withholdTimeToLive() {
	job, _ := s.object()
	ttl := s.timeToLive()
	if *ttl == nil {
		return
	}
	annotations := maps.Clone(job.GetAnnotations())
	annotations[timeToLiveAnnotation] = strconv.Itoa(int(**ttl))
	job.SetAnnotations(annotations)
	*ttl = nil
}

// timeToLive is what timeToLiveAnnotation withholds of a job; nil for nothing.
func timeToLive(job metav1.Object) *int32 {
	seconds, err := strconv.ParseInt(job.GetAnnotations()[timeToLiveAnnotation], 10, 32)
	if err != nil {
		return nil
	}
	return new(int32(seconds))
}

// release gives a job its time to live. (ACJ-13.2)
func (a *applier) release(ctx context.Context, c Child) error {
	spec := `{"completionPolicy":{"ttlSecondsAfterFinished":%d}}`
	resource := c.resource()
	if resource == resourceJobs {
		spec = `{"ttlSecondsAfterFinished":%d}`
	}
	data := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:null}},"spec":`+spec+"}", c.Reference.UID, timeToLiveAnnotation, *c.TimeToLive)
	version, err := a.clients[resource].merge(ctx, a.Key.Namespace, c.Reference.Name, data)
	err = a.Unanswered(resource, c.Reference.Name, err)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case err != nil:
		return fmt.Errorf("give %s its time to live: %w", c.Reference.Name, err)
	}
	a.Wrote(resource, version)
	return nil
}

// setRefused writes down for which scheduled time the API server has refused the job,
// zero for none. So another process knows that it may try again.
func (a *applier) setRefused(ctx context.Context, scheduled time.Time) error {
	value := ""
	if !scheduled.IsZero() {
		value = scheduled.Format(time.RFC3339)
	}
	return a.annotate(ctx, RefusedAnnotation, value)
}

// annotate writes an annotation of the cron job if it differs; empty removes it.
func (a *applier) annotate(ctx context.Context, key, value string) error {
	cronJob, quoted := a.snapshot.CronJob, "null"
	switch {
	case cronJob.Annotations[key] == value:
		return nil
	case value != "":
		quoted = strconv.Quote(value)
	}
	data := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:%s}}}`, cronJob.UID, key, quoted)
	// Its times are what is wanted.
	return a.PutBack("annotation "+key, string(data), func() error { return a.sendAnnotation(ctx, data) })
}

func (a *applier) sendAnnotation(ctx context.Context, data []byte) error {
	version, err := a.Merge(ctx, a.Key, data)
	if err != nil {
		err = fmt.Errorf("patch AdvancedCronJob %s: %w", a.Key.Name, a.Unanswered(resourceCronJobs, a.Key.Name, err))
		a.RecordFailure(apply.Update, err)
		return err
	}
	a.Wrote(resourceCronJobs, version)
	return nil
}

// recordRefusal records that a job was refused, the same text once an hour.
func (a *applier) recordRefusal(err error) {
	job, _ := a.plan.Start.object()
	r, now := a.recorded.Get(a.Key), a.options.Clock.Now()
	text := strings.ReplaceAll(err.Error(), job.GetName(), "")
	if age := now.Sub(r.refusedAt); r.refusal == text && age >= 0 && age < refusalEvent {
		return
	}
	a.Event(corev1.EventTypeWarning, ReasonFailedCreate, "create job %s: %v", job.GetName(), err)
	r.refusal, r.refusedAt = text, now
	a.recorded.Set(a.Key, r)
}
