// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// ScheduleAnnotation is on an AdvancedCronJob: since when it has its schedule, in RFC 3339, and after a space that schedule with its
// time zone. Times before are not due. (ACJ-8.1)
const ScheduleAnnotation = "advancedcronjob.podwright.io/schedule"

// noted is the ScheduleAnnotation of a cron job that was written last.
type noted struct {
	of    types.UID
	value string
}

// scheduleNote is what ScheduleAnnotation says.
type scheduleNote struct {
	since    time.Time
	schedule string
}

func (n scheduleNote) String() string { return n.since.UTC().Format(time.RFC3339) + " " + n.schedule }

// readScheduleNote reads an annotation; ok is false for what is none.
func readScheduleNote(text string) (n scheduleNote, ok bool) {
	since, schedule, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339, since)
	return scheduleNote{at, schedule}, err == nil
}

// scheduleOf is the schedule with the time zone that it counts in. (ACJ-7.1)
func scheduleOf(spec *v1alpha1.AdvancedCronJobSpec) string {
	if spec.TimeZone == nil || namesZone(spec.Schedule) {
		return spec.Schedule
	}
	return "TZ=" + *spec.TimeZone + " " + spec.Schedule
}

// findEdit finds out since when the cron job has its schedule. One about which nothing is written has it since its last
// job or its creation. So none of its times is lost when it is taken over. (ACJ-8.1)
func (p *planner) findEdit() {
	schedule, now := scheduleOf(&p.CronJob.Spec), p.Now.Truncate(time.Second)
	text := p.CronJob.Annotations[ScheduleAnnotation]
	note, ok := readScheduleNote(text)
	if !ok {
		note, ok = readScheduleNote(p.Noted)
	}
	switch {
	case !ok:
		note = scheduleNote{p.last, schedule}
		if p.last.IsZero() {
			note.since = p.CronJob.CreationTimestamp.Time
		}
	case note.schedule != schedule, note.since.Sub(now) > mostSkew: // it was edited, or a clock was wrong
		note = scheduleNote{now, schedule}
	}
	p.edited = note.since
	if note.String() != text {
		p.plan.Schedule = note.String()
	}
}

// noteSchedule writes down since when the cron job has its schedule. (ACJ-8.1)
func (a *applier) noteSchedule(ctx context.Context) error {
	if a.plan.Schedule == "" {
		return nil
	}
	a.notes.Set(a.Key, noted{a.snapshot.CronJob.UID, a.plan.Schedule})
	return a.annotate(ctx, ScheduleAnnotation, a.plan.Schedule)
}
