// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planStart decides whether a job is created now.
func (p *planner) planStart() {
	schedule, unknownZone, err := parseSchedule(&p.CronJob.Spec)
	p.plan.UnknownTimeZone = unknownZone
	if err != nil {
		p.problem(fmt.Errorf("spec.schedule: %q cannot be read: %w", p.CronJob.Spec.Schedule, err))
	}
	switch {
	case ptr.Deref(p.CronJob.Spec.Paused, false): // (ACJ-6)
		p.wait(rollout.RulePaused, "spec.paused is set")
		return
	case len(p.plan.Problems) > 0:
		return
	}
	since := p.since()
	p.plan.Due, p.plan.Missed = missed(schedule, since, p.Now)
	p.plan.Ahead = p.last.Sub(p.Now) > mostSkew
	p.plan.Next = schedule.Next(later(since, p.plan.Due)) // which is later than now
	if !p.plan.Next.IsZero() {
		p.plan.RequeueAfter = max(p.plan.Next.Sub(p.Now), time.Millisecond) // (ACJ-10)
	}
	if p.plan.Due.IsZero() {
		p.plan.Due = p.notCreated()
	}
	if p.isDue() && p.isInTime() && !p.isRefused() && !p.isForbidden() {
		p.start()
		if wall, ok := schedule.(*wallClock); ok {
			p.plan.Start.WallClock = wall.changed(p.plan.Due)
		}
	}
}

// mostSkew is by how much clocks of managers may differ without any remark.
const mostSkew = time.Minute

// since is the time after which a scheduled time is due. (ACJ-8, ACJ-8.1)
func (p *planner) since() time.Time { return later(p.last, p.edited).In(p.Now.Location()) }

// notCreated returns the newest scheduled time if its job could not be created
// so far; zero otherwise. (ACJ-13.2)
func (p *planner) notCreated() time.Time {
	unstarted := p.unstarted()
	if unstarted.IsZero() || !unstarted.Equal(p.last) || p.has(p.nameFor(unstarted)) {
		return time.Time{}
	}
	return unstarted.In(p.Now.Location())
}

func (p *planner) has(name string) bool {
	return slices.ContainsFunc(p.plan.Children, func(c Child) bool { return c.Reference.Name == name })
}

func (p *planner) isDue() bool {
	if !p.plan.Due.IsZero() {
		return true
	}
	next := "there is no next one"
	if !p.plan.Next.IsZero() {
		next = "the next one is at " + p.plan.Next.Format(time.RFC3339)
	}
	if p.plan.Ahead {
		next += ": lastScheduleTime, " + p.last.In(p.Now.Location()).Format(time.RFC3339) + ", is in the future"
	}
	p.wait(RuleSchedule, "no scheduled time has come, "+next)
	return false
}

// isInTime keeps to spec.startingDeadlineSeconds. (ACJ-11)
func (p *planner) isInTime() bool {
	deadline := p.CronJob.Spec.StartingDeadlineSeconds
	if deadline == nil || p.Now.Sub(p.plan.Due) < seconds(*deadline) {
		return true
	}
	p.wait(RuleStartingDeadline, fmt.Sprintf("%s is past, and spec.startingDeadlineSeconds is %d", p.plan.Due.Format(time.RFC3339), *deadline))
	return false
}

// seconds is a number of seconds, or as long as can be said.
func seconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(n, most)) * time.Second
}

// isForbidden keeps to spec.concurrencyPolicy, or makes room. (ACJ-12)
func (p *planner) isForbidden() bool {
	for _, c := range p.plan.Children {
		if c.State != Active {
			continue
		}
		switch concurrencyPolicy(&p.CronJob.Spec) {
		case v1alpha1.ForbidConcurrent:
			p.wait(RuleForbid, c.Reference.Name+" is active, and spec.concurrencyPolicy is Forbid")
			return true
		case v1alpha1.ReplaceConcurrent:
			if !c.Deleting {
				p.plan.Replace = append(p.plan.Replace, c)
			}
		}
	}
	return false
}

// start makes the job that is due. (ACJ-13)
func (p *planner) start() {
	start := &Start{Scheduled: p.plan.Due}
	template := &p.CronJob.Spec.Template
	switch p.kind {
	case v1alpha1.JobTemplate:
		t := template.JobTemplate
		start.Job = &batchv1.Job{ObjectMeta: p.metadata(t.Labels, t.Annotations), Spec: *t.Spec.DeepCopy()}
	case v1alpha1.ImageListPullJobTemplate:
		t := template.ImageListPullJobTemplate
		start.ImageListPullJob = &distributionv1alpha1.ImageListPullJob{ObjectMeta: p.metadata(t.Metadata.Labels, t.Metadata.Annotations), Spec: *t.Spec.DeepCopy()}
	default:
		t := template.BroadcastJobTemplate
		start.BroadcastJob = &v1alpha1.BroadcastJob{ObjectMeta: p.metadata(t.Metadata.Labels, t.Metadata.Annotations), Spec: *t.Spec.DeepCopy()}
	}
	if p.refusedAt().Equal(start.Scheduled) {
		start.withholdTimeToLive()
	}
	p.plan.Start = start
}

// metadata is that of the job that is due. (ACJ-13.1)
func (p *planner) metadata(labels, annotations map[string]string) metav1.ObjectMeta {
	annotations = maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.ScheduledAtAnnotation] = p.plan.Due.Format(time.RFC3339)
	return metav1.ObjectMeta{
		Namespace: p.CronJob.Namespace, Name: p.nameFor(p.plan.Due), Labels: maps.Clone(labels), Annotations: annotations,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(p.CronJob, v1alpha1.SchemeGroupVersion.WithKind(kind))},
	}
}

// nameFor is the name of the job for a scheduled time.
func (p *planner) nameFor(scheduled time.Time) string {
	return p.CronJob.Name + "-" + strconv.FormatInt(scheduled.Unix(), 10)
}
