// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"errors"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podwright/podwright"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Plan is what to do about an AdvancedCronJob now: data, to be looked at, compared
// and applied. The same Snapshot gives the same Plan.
type Plan struct {
	// Children are the jobs that there are, by scheduled time.
	Children []Child
	// Start is the job to create now, nil for none.
	Start *Start
	// Waiting says why no job is created now: one wait, of the whole cron job, since the scheduled time that has come. It is empty if
	// a job is created, and if Problems say why.
	Waiting []rollout.Wait

	// Schedule is the ScheduleAnnotation to write before anything else is done; empty if the present one stands.
	Schedule string
	// Created is the scheduled time in RefusedAnnotation if its job is there by now: the annotation is removed before
	// anything else is done. Zero for none.
	Created time.Time
	// Release lists the jobs that get their time to live after that.
	Release []Child

	// Replace lists the active jobs that are deleted before the new one is created.
	Replace []Child
	// Clean lists the finished jobs that are deleted, beyond the history limits.
	Clean []Child

	// Status is the status to write, or nil when the present one stands. It is
	// written before Start is created: what it says of lastScheduleTime is the claim
	// by which no time is run twice.
	Status *v1alpha1.AdvancedCronJobStatus
	// Unclaimed is written instead of Status if a job in Replace could not be
	// deleted. It is the same without the claim, as Start is not created then. Nil if
	// the present one stands, or Replace is empty.
	Unclaimed *v1alpha1.AdvancedCronJobStatus

	// Due is the latest scheduled time that has come and for which no job was
	// created; zero for none. Missed counts all such times, up to 101.
	Due    time.Time
	Missed int
	// Ahead says that status.lastScheduleTime is more than a minute later than now, as
	// after a time with a wrong clock: until then nothing is due.
	Ahead bool
	// Next is the scheduled time after now; zero if there is none.
	Next time.Time
	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
	// Problems are errors in the spec, each with what to do about it. A cron job
	// that has one creates no jobs.
	Problems []rollout.Problem
	// UnknownTimeZone is why spec.timeZone is left out of account; nil if it is not.
	UnknownTimeZone error
}

// Start is a job to create.
type Start struct {
	// Scheduled is the time for which it is created.
	Scheduled time.Time
	// WallClock says which scheduled times near it are skipped or come twice because the clock of the time zone is set.
	// It also says what becomes of them. Empty for none. (ACJ-19)
	WallClock string
	// Job, BroadcastJob or ImageListPullJob is what to create; the others are nil.
	Job              *batchv1.Job
	BroadcastJob     *v1alpha1.BroadcastJob
	ImageListPullJob *distributionv1alpha1.ImageListPullJob
}

// object is the job to create, and what it is one of.
func (s *Start) object() (apiwriter.Object, podwright.Resource) {
	switch {
	case s.Job != nil:
		return s.Job, resourceJobs
	case s.ImageListPullJob != nil:
		return s.ImageListPullJob, resourceImageListPullJobs
	}
	return s.BroadcastJob, resourceBroadcastJobs
}

// timeToLive is the field of the job that holds it.
func (s *Start) timeToLive() **int32 {
	switch {
	case s.Job != nil:
		return &s.Job.Spec.TTLSecondsAfterFinished
	case s.ImageListPullJob != nil:
		return &s.ImageListPullJob.Spec.CompletionPolicy.TTLSecondsAfterFinished
	}
	return &s.BroadcastJob.Spec.CompletionPolicy.TTLSecondsAfterFinished
}

// What holds back the creation of a job, beside rollout.RulePaused.
const (
	// RuleSchedule: no scheduled time has come since the last job.
	RuleSchedule rollout.Rule = "Schedule"
	// RuleStartingDeadline: the job is later than spec.startingDeadlineSeconds allows.
	RuleStartingDeadline rollout.Rule = "StartingDeadline"
	// RuleForbid: a job is active, and spec.concurrencyPolicy forbids another.
	RuleForbid rollout.Rule = "Forbid"
)

// NewPlan decides what to do about an AdvancedCronJob. It never fails: what is
// wrong with it is listed in Plan.Problems.
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.CronJob == nil {
		return &Plan{Problems: rollout.ProblemsOf(errors.New("the Snapshot has no CronJob; give it the AdvancedCronJob to plan for"))}
	}
	p := &planner{Snapshot: s, plan: &Plan{}}
	if s.CronJob.DeletionTimestamp != nil {
		return p.plan // the garbage collector sees to the jobs
	}
	p.findKind()
	p.plan.Children = s.children(p.kind)
	p.findLast()
	p.findEdit()
	p.planRefused()
	p.planHistory()
	p.planStart()
	p.planStatus()
	return p.plan
}

// problem reports what is wrong with the spec.
func (p *planner) problem(err error) {
	p.plan.Problems = append(p.plan.Problems, rollout.Problem{Err: err})
}

// wait records why no job is created.
func (p *planner) wait(rule rollout.Rule, message string) {
	p.plan.Waiting = []rollout.Wait{{Reason: &rollout.Reason{Rule: rule, Message: message}, Since: p.plan.Due}}
}
