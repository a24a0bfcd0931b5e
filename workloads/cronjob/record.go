// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/controller"
)

// ScheduleMetrics receives how well the controller keeps to schedules.
// Implementations must be safe for use by several goroutines.
type ScheduleMetrics interface {
	// Started is called when a job has been created, with the time that has passed since its scheduled time.
	Started(late time.Duration)
	// Missed is called with a number of scheduled times that have no job: a later one had come, or the starting deadline
	// was over. Of more than 100 times in a row 100 are counted.
	Missed(times int)
}

// The reasons of events about AdvancedCronJobs. (ACJ-15)
const (
	reasonSuccessfulCreate    = "SuccessfulCreate"
	ReasonFailedCreate        = "FailedCreate"
	reasonSuccessfulDelete    = "SuccessfulDelete"
	reasonFailedDelete        = "FailedDelete"
	reasonMissSchedule        = "MissSchedule"
	reasonTooManyMissedTimes  = "TooManyMissedTimes"
	reasonJobAlreadyActive    = "JobAlreadyActive"
	reasonUnparseableSchedule = "UnparseableSchedule"
	reasonInvalidTemplate     = "InvalidTemplate"
	reasonUnknownTimeZone     = "UnknownTimeZone"
	reasonClockSetBack        = "ClockSetBack"
	reasonWallClockChanged    = "WallClockChanged"
)

// recorded is what has been recorded about a cron job.
type recorded struct {
	missed, forbidden time.Time // the scheduled time of the last such event
	ahead             bool      // lastScheduleTime is in the future
	problem           string
	since             time.Time // the scheduled time since when times are counted as missed
	times             int       // how many
	refusal           string    // the last event about a refusal, without the name of the job, and when that was
	refusedAt         time.Time
}

// recordWaiting records once what keeps the job from being created that is due.
func (a *applier) recordWaiting() {
	r, before := a.recorded.Get(a.Key), a.recorded.Get(a.Key)
	problem, reason := "", reasonUnparseableSchedule
	for _, p := range a.plan.Problems {
		if problem = p.Err.Error(); !strings.HasPrefix(problem, "spec.schedule") {
			reason = reasonInvalidTemplate
		}
	}
	if err := a.plan.UnknownTimeZone; err != nil && problem == "" {
		problem, reason = "spec.timeZone is left out of account: "+err.Error(), reasonUnknownTimeZone
	}
	if r.problem != problem && problem != "" {
		a.Event(corev1.EventTypeWarning, reason, "%s", problem)
	}
	r.problem = problem
	due, wait := a.plan.Due, a.plan.waits()
	if wait.Rule == RuleStartingDeadline && !r.missed.Equal(due) {
		a.Event(corev1.EventTypeWarning, reasonMissSchedule, "%s: no job is created for it", wait.Message)
		r.missed = due
		a.countMissed(&r, a.plan.Missed)
	}
	if wait.Rule == RuleForbid && !r.forbidden.Equal(due) {
		a.Event(corev1.EventTypeNormal, reasonJobAlreadyActive, "no job is created for %s: %s", due.Format(time.RFC3339), wait.Message)
		r.forbidden = due
	}
	if a.plan.Ahead && !r.ahead && wait.Rule != "" {
		a.Event(corev1.EventTypeWarning, reasonClockSetBack, "%s. Jobs are created again after that time: if a clock was wrong, set status.lastScheduleTime back", wait.Message)
	}
	r.ahead = a.plan.Ahead
	if r != before {
		a.recorded.Set(a.Key, r)
	}
}

// recordClaim records that a scheduled time is run, and those before it are not.
func (a *applier) recordClaim() {
	if a.plan.Missed > mostMissed {
		a.Event(corev1.EventTypeWarning, reasonTooManyMissedTimes,
			"more than %d scheduled times have been missed: a job is created for the latest, %s, alone. Is the clock right, or was the manager down?",
			mostMissed, a.plan.Due.Format(time.RFC3339))
	}
	if change := a.plan.Start.WallClock; change != "" {
		a.Event(corev1.EventTypeNormal, reasonWallClockChanged, "%s", change)
	}
	r := a.recorded.Get(a.Key)
	a.countMissed(&r, a.plan.Missed-1)
	a.recorded.Set(a.Key, r)
}

// countMissed counts scheduled times since the last job, once.
func (a *applier) countMissed(r *recorded, times int) {
	last := time.Time{}
	if t := a.snapshot.CronJob.Status.LastScheduleTime; t != nil {
		last = t.Time
	}
	if !r.since.Equal(last) {
		r.since, r.times = last, 0
	}
	if times > r.times {
		controller.Measure(a.options.ScheduleMetrics, func(m ScheduleMetrics) { m.Missed(times - r.times) })
		r.times = times
	}
}

// recordStart records that a job was created.
func (a *applier) recordStart() {
	job, _ := a.plan.Start.object()
	a.Event(corev1.EventTypeNormal, reasonSuccessfulCreate, "created job %s", job.GetName())
	controller.Measure(a.options.ScheduleMetrics, func(m ScheduleMetrics) { m.Started(a.options.Clock.Now().Sub(a.plan.Start.Scheduled)) })
}

// waits is why no job is created; empty if one is.
func (p *Plan) waits() rollout.Reason {
	if len(p.Waiting) == 0 {
		return rollout.Reason{}
	}
	return *p.Waiting[0].Reason
}
