// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// newJob reads "10:05 Complete started=10:06 deleting": a Job of the cron job for a
// scheduled time.
func newJob(t *testing.T, of *v1alpha1.AdvancedCronJob, text string) *batchv1.Job {
	t.Helper()
	words := strings.Fields(text)
	at := parseTime(t, words[0])
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: of.Namespace, Name: fmt.Sprintf("%s-%d", of.Name, at.Unix()), UID: types.UID(words[0]), ResourceVersion: "7",
		Annotations:     map[string]string{v1alpha1.ScheduledAtAnnotation: at.Format(time.RFC3339)},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, v1alpha1.SchemeGroupVersion.WithKind("AdvancedCronJob"))},
	}}
	for _, word := range words[1:] {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "started":
			job.Status.StartTime = &metav1.Time{Time: parseTime(t, value)}
		case "deleting":
			job.DeletionTimestamp = &metav1.Time{Time: at}
		case "at":
			job.Annotations[v1alpha1.ScheduledAtAnnotation] = value
		case "version":
			job.OwnerReferences[0].APIVersion = value
		case "owner":
			job.OwnerReferences[0].UID = types.UID(value)
		case "not":
			job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobConditionType(value), Status: corev1.ConditionFalse})
		default:
			job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobConditionType(name), Status: corev1.ConditionTrue})
		}
	}
	return job
}

// lines are those of a plan, without what says that the status or the annotation of the schedule is written.
func lines(plan *cronjob.Plan) []string {
	var out []string
	for line := range strings.Lines(plan.String()) {
		if line = strings.TrimSpace(line); line != "write the status" && !strings.HasPrefix(line, "note the schedule") {
			out = append(out, line)
		}
	}
	return out
}

// A cron job of every five minutes, created at 10:02.
func TestPlan(t *testing.T) {
	const (
		at1005, at1010, at1030 = "1662372300", "1662372600", "1662373800"
		next1005               = "wait: no scheduled time has come, the next one is at 2022-09-05T10:05:00Z"
	)
	for _, test := range []struct {
		name      string
		spec      string
		jobs      []string
		last      string // of the status
		unstarted string
		now       string
		edit      func(*cronjob.Snapshot)
		want      []string
		requeue   time.Duration
	}{
		{name: "ACJ-8: created at 10:02", now: "10:02", want: []string{next1005}, requeue: 3 * time.Minute},
		{name: "ACJ-10: the next time", now: "10:04:59", want: []string{next1005}, requeue: time.Second},
		{name: "ACJ-9: due", now: "10:05", want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 5 * time.Minute},
		{name: "ACJ-9: the manager was down: the latest alone", jobs: []string{"10:05 Complete"}, now: "10:31",
			want: []string{"create web-" + at1030 + " for 2022-09-05T10:30:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-9: more than 100 times missed", last: "2022-09-04T10:05:00Z", now: "10:31",
			want: []string{"create web-" + at1030 + " for 2022-09-05T10:30:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-8.1: a schedule about which nothing is written counts from the last time", spec: "schedule: '*/3 * * * *'", last: "10:05", now: "10:09:30",
			want: []string{"create web-1662372540 for 2022-09-05T10:09:00Z"}, requeue: 150 * time.Second},
		{name: "ACJ-8.1: changed at this moment", last: "10:05", now: "10:31", edit: scheduleNote("2022-09-04T10:05:00Z 0 22 * * *"),
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:35:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-8.1: changed before", last: "10:05", now: "10:31", edit: scheduleNote("2022-09-05T10:29:00Z */5 * * * *"),
			want: []string{"create web-" + at1030 + " for 2022-09-05T10:30:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-8.1: changed when a clock was wrong", last: "10:05", now: "10:10", edit: scheduleNote("2032-09-05T10:29:00Z */5 * * * *"),
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:15:00Z"}, requeue: 5 * time.Minute},
		{name: "ACJ-8.1: the annotation cannot be read", last: "10:05", now: "10:11", edit: scheduleNote("often"),
			want: []string{"create web-" + at1010 + " for 2022-09-05T10:10:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-8.1: changed, and the job of the last time was refused", last: "10:05", unstarted: "10:05", now: "10:11",
			edit: scheduleNote("2022-09-04T10:05:00Z 5 10 * * *"), want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-11: too late", spec: "startingDeadlineSeconds: 30", last: "10:05", now: "10:31",
			want: []string{"wait: 2022-09-05T10:30:00Z is past, and spec.startingDeadlineSeconds is 30"}, requeue: 4 * time.Minute},
		{name: "ACJ-11: just in time", spec: "startingDeadlineSeconds: 61", last: "10:05", now: "10:31",
			want: []string{"create web-" + at1030 + " for 2022-09-05T10:30:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-11: 0 runs none", spec: "startingDeadlineSeconds: 0", now: "10:05",
			want: []string{"wait: 2022-09-05T10:05:00Z is past, and spec.startingDeadlineSeconds is 0"}, requeue: 5 * time.Minute},
		{name: "ACJ-11: @every counts from the last time", spec: "schedule: '@every 1h'\nstartingDeadlineSeconds: 100", last: "09:00", now: "10:01",
			want: []string{"create web-1662372000 for 2022-09-05T10:00:00Z"}, requeue: 59 * time.Minute},
		{name: "ACJ-10: @every, between two times: the next one counts from the last, not from now", spec: "schedule: '@every 1h'", last: "09:00", now: "09:59",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:00:00Z"}, requeue: time.Minute},
		{name: "ACJ-11: as late as an int64 can say", spec: "startingDeadlineSeconds: 9223372036854775807", now: "10:05",
			want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 5 * time.Minute},
		{name: "ACJ-3: the job of the last time is gone", last: "10:05", now: "10:06",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:10:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-3: the clock was set back", last: "10:05", now: "09:50",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:10:00Z: lastScheduleTime, 2022-09-05T10:05:00Z, is in the future"}, requeue: 20 * time.Minute},
		{name: "ACJ-3: the clock is a little behind that of another manager", last: "10:05", now: "10:04:30",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:10:00Z"}, requeue: 330 * time.Second},
		{name: "ACJ-3: a job that is newer than the status", last: "10:05", jobs: []string{"10:10"}, now: "10:11",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:15:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-3: an annotation that cannot be read", jobs: []string{"10:10 at=soon"}, now: "10:04",
			want: []string{next1005}, requeue: time.Minute},
		{name: "ACJ-1: a job with an owner in another version", jobs: []string{"10:05 version=apps.kruise.io/v1beta1"}, now: "10:06",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:10:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-1: a job of another cron job of the name", jobs: []string{"10:05 owner=another"}, now: "10:06",
			want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-6: paused", spec: "paused: true", now: "10:05", want: []string{"wait: spec.paused is set"}},
		{name: "ACJ-5: history, while paused", spec: "paused: true\nsuccessfulJobsHistoryLimit: 2\nfailedJobsHistoryLimit: 0", now: "10:31",
			jobs: []string{"10:05 Complete started=10:05", "10:10 Complete started=10:10", "10:15 Complete started=10:15", "10:20 Failed", "10:25"},
			want: []string{"delete web-1662373200, which has failed", "delete web-" + at1005 + ", which has succeeded", "wait: spec.paused is set"}},
		{name: "ACJ-5: by default three and one", spec: "paused: true", now: "10:31",
			jobs: []string{"10:05 Complete", "10:10 Complete started=10:10", "10:15 Complete started=10:20", "10:20 Complete started=10:15", "10:25 Failed", "10:30 Failed"},
			want: []string{"delete web-1662373500, which has failed", "delete web-" + at1005 + ", which has succeeded", "wait: spec.paused is set"}},
		{name: "ACJ-5: those that are being deleted go already", spec: "paused: true\nsuccessfulJobsHistoryLimit: 1", now: "10:31",
			jobs: []string{"10:05 Complete deleting", "10:10 Complete"}, want: []string{"wait: spec.paused is set"}},
		{name: "ACJ-2: the first condition that is True", spec: "concurrencyPolicy: Forbid", jobs: []string{"10:05 not=Complete Failed Complete"}, now: "10:10",
			want: []string{"create web-" + at1010 + " for 2022-09-05T10:10:00Z"}, requeue: 5 * time.Minute},
		{name: "ACJ-2: other conditions", spec: "concurrencyPolicy: Forbid", jobs: []string{"10:05 Suspended not=Failed"}, now: "10:10",
			want: []string{"wait: web-" + at1005 + " is active, and spec.concurrencyPolicy is Forbid"}, requeue: 5 * time.Minute},
		{name: "ACJ-12.1: Forbid, and a job that is being deleted", spec: "concurrencyPolicy: Forbid", jobs: []string{"10:05 deleting"}, now: "10:10",
			want: []string{"wait: web-" + at1005 + " is active, and spec.concurrencyPolicy is Forbid"}, requeue: 5 * time.Minute},
		{name: "ACJ-12.1: Forbid, and the job has finished", spec: "concurrencyPolicy: Forbid", jobs: []string{"10:05 Complete"}, now: "10:12",
			want: []string{"create web-" + at1010 + " for 2022-09-05T10:10:00Z"}, requeue: 3 * time.Minute},
		{name: "ACJ-12.2: Replace", spec: "concurrencyPolicy: Replace", jobs: []string{"10:01", "10:03 Failed", "10:04 deleting", "10:05"}, now: "10:10",
			want: []string{"delete web-1662372060, which is replaced", "delete web-" + at1005 + ", which is replaced", "create web-" + at1010 + " for 2022-09-05T10:10:00Z"}, requeue: 5 * time.Minute},
		{name: "ACJ-12.2: Replace, and nothing is due", spec: "concurrencyPolicy: Replace", jobs: []string{"10:05"}, now: "10:06",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:10:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-12.3: Allow", spec: "concurrencyPolicy: Allow", jobs: []string{"10:05"}, now: "10:10",
			want: []string{"create web-" + at1010 + " for 2022-09-05T10:10:00Z"}, requeue: 5 * time.Minute},
		{name: "ACJ-13.2: the claimed time has no job", last: "10:05", unstarted: "10:05", now: "10:06",
			want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-13.2: it has", last: "10:05", unstarted: "10:05", jobs: []string{"10:05"}, now: "10:06",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:10:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-13.2: a later time has come", last: "10:05", unstarted: "10:05", now: "10:10",
			want: []string{"create web-" + at1010 + " for 2022-09-05T10:10:00Z"}, requeue: 5 * time.Minute},
		{name: "ACJ-13.2: a later time has its job", last: "10:05", unstarted: "10:05", jobs: []string{"10:10"}, now: "10:11",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:15:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-13.2: another process claimed a later time", last: "10:10", unstarted: "10:05", now: "10:11",
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:15:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-13.2: refused, and the deadline is over", spec: "startingDeadlineSeconds: 30", last: "10:05", now: "10:06",
			edit: refusedAt("2022-09-05T10:05:00Z"), want: []string{"wait: 2022-09-05T10:05:00Z is past, and spec.startingDeadlineSeconds is 30"}, requeue: 4 * time.Minute},
		{name: "ACJ-13.2: refused to another process", last: "10:05", now: "10:06",
			edit: refusedAt("2022-09-05T10:05:00Z"), want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-13.2: refused to another process, and then the job was created", last: "10:05", jobs: []string{"10:05"}, now: "10:06",
			edit: refusedAt("2022-09-05T10:05:00Z"), want: []string{"note that the job of 2022-09-05T10:05:00Z is there, which was refused",
				"wait: no scheduled time has come, the next one is at 2022-09-05T10:10:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-13.5: refused a moment ago", last: "10:05", unstarted: "10:05", now: "10:06", edit: refusal("10:05", "10:07"),
			want:    []string{"wait: the API server refuses web-" + at1005 + ", it is tried again at 2022-09-05T10:07:00Z: no"},
			requeue: time.Minute},
		{name: "ACJ-13.5: refused, and the back-off is over", last: "10:05", unstarted: "10:05", now: "10:07", edit: refusal("10:05", "10:07"),
			want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 3 * time.Minute},
		{name: "ACJ-13.5: refused, and a clock was set back", last: "10:05", unstarted: "10:05", now: "10:06", edit: refusal("10:05", "10:12"),
			want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-13.5: refused, and a later time has come", last: "10:05", unstarted: "10:05", now: "10:10", edit: refusal("10:05", "10:12"),
			want: []string{"create web-" + at1010 + " for 2022-09-05T10:10:00Z"}, requeue: 5 * time.Minute},
		{name: "ACJ-13.5: invalid", last: "10:05", unstarted: "10:05", now: "10:06", edit: refusal("10:05", ""), requeue: 4 * time.Minute,
			want: []string{"wait: the API server refuses web-" + at1005 + ", it is tried again at the next scheduled time, or when the spec changes: no"}},
		{name: "ACJ-13.2: refused, and that is long ago", last: "10:10", now: "10:11", edit: refusedAt("2022-09-05T10:05:00Z"),
			want: []string{"wait: no scheduled time has come, the next one is at 2022-09-05T10:15:00Z"}, requeue: 4 * time.Minute},
		{name: "ACJ-9.1: an unreadable schedule", spec: "schedule: often", now: "10:06",
			want: []string{`problem: spec.schedule: "often" cannot be read: expected exactly 5 fields, found 1: [often]`}},
		{name: "ACJ-9.1: no template", now: "10:06", edit: func(s *cronjob.Snapshot) { s.CronJob.Spec.Template = v1alpha1.CronJobTemplate{} },
			want: []string{"problem: spec.template: must hold jobTemplate, broadcastJobTemplate or imageListPullJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"}},
		{name: "ACJ-9.1: BroadcastJobs are not served", spec: broadcastTemplate, now: "10:06", edit: func(s *cronjob.Snapshot) { s.NoBroadcastJobs = true },
			want: []string{"problem: spec.template.broadcastJobTemplate: BroadcastJobs are not served here: install the kind, or use jobTemplate"}},
		{name: "ACJ-9.1: ImageListPullJobs are not served", spec: imageTemplate, now: "10:06", edit: func(s *cronjob.Snapshot) { s.NoImageListPullJobs = true },
			want: []string{"problem: spec.template.imageListPullJobTemplate: ImageListPullJobs are not served here: install the kind, or use another template"}},
		{name: "ACJ-9.1: images that are always refused", spec: strings.Replace(imageTemplate, "base, tools", "base, base", 1), now: "10:06",
			want: []string{`problem: spec.template.imageListPullJobTemplate.spec.images[1]: Duplicate value: "base"`}},
		{name: "ACJ-1: images before a BroadcastJob", spec: strings.Replace(imageTemplate, "template: {", "template: {broadcastJobTemplate: {spec: {"+podTemplate+"}}, ", 1), now: "10:05",
			want: []string{"create web-" + at1005 + " for 2022-09-05T10:05:00Z"}, requeue: 5 * time.Minute, edit: func(s *cronjob.Snapshot) { s.NoBroadcastJobs = true }},
		{name: "ACJ-9.1: a schedule that never comes", spec: "schedule: 0 0 31 2 *", now: "10:06",
			want: []string{`problem: spec.schedule: "0 0 31 2 *" cannot be read: it never comes: no month has such a day`}},
		{name: "ACJ-9.1: jobs that are always refused", spec: "schedule: '*/5 * * * *'\n" + strings.Replace(jobTemplate, "Never", "Always", 1), now: "10:06",
			want: []string{`problem: spec.template.jobTemplate.spec.template.spec.restartPolicy: Unsupported value: "Always": supported values: "Never", "OnFailure"`}},
		{name: "ACJ-9.1: a name that is too long", spec: "schedule: '*/5 * * * *'", now: "10:06", edit: func(s *cronjob.Snapshot) { s.CronJob.Name = strings.Repeat("a", 53) },
			want: []string{`problem: metadata.name: "` + strings.Repeat("a", 53) + `" must be letters, digits and dashes, 52 at most: the names of the jobs begin with it`}},
		{name: "it is being deleted", now: "10:06", edit: func(s *cronjob.Snapshot) { s.CronJob.DeletionTimestamp = &metav1.Time{Time: s.Now} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := test.spec
			if !strings.Contains(spec, "schedule:") {
				spec = "schedule: '*/5 * * * *'\n" + spec
			}
			s := &cronjob.Snapshot{CronJob: newCronJob(t, "web", spec), Now: parseTime(t, test.now)}
			s.CronJob.CreationTimestamp.Time = parseTime(t, "10:02")
			if test.last != "" {
				s.CronJob.Status.LastScheduleTime = &metav1.Time{Time: parseTime(t, test.last)}
			}
			if test.unstarted != "" {
				s.Unstarted = parseTime(t, test.unstarted)
			}
			for _, text := range test.jobs {
				s.Jobs = append(s.Jobs, newJob(t, s.CronJob, text))
			}
			if test.edit != nil {
				test.edit(s)
			}
			before := s.CronJob.DeepCopy()
			plan := cronjob.NewPlan(s)
			if diff := cmp.Diff(test.want, lines(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if plan.RequeueAfter != test.requeue {
				t.Errorf("it is called again after %s, want %s", plan.RequeueAfter, test.requeue)
			}
			if diff := cmp.Diff(before, s.CronJob); diff != "" {
				t.Errorf("the snapshot has changed (-before +after):\n%s", diff)
			}
		})
	}
}

func refusedAt(text string) func(*cronjob.Snapshot) {
	return func(s *cronjob.Snapshot) {
		s.CronJob.Annotations = map[string]string{cronjob.RefusedAnnotation: text}
	}
}

func scheduleNote(text string) func(*cronjob.Snapshot) {
	return func(s *cronjob.Snapshot) {
		s.CronJob.Annotations = map[string]string{cronjob.ScheduleAnnotation: text}
	}
}

// refusal is one of the job of a time, which is tried again at another time, or not at all.
func refusal(of, until string) func(*cronjob.Snapshot) {
	return func(s *cronjob.Snapshot) {
		day := s.Now.Truncate(24 * time.Hour)
		at := func(text string) time.Time {
			t, err := time.Parse("15:04", text)
			if err != nil {
				return time.Time{}
			}
			return day.Add(t.Sub(t.Truncate(24 * time.Hour)))
		}
		s.Refused = &cronjob.Refusal{Scheduled: at(of), Until: at(until), Message: "no"}
	}
}

func TestMissed(t *testing.T) {
	s := &cronjob.Snapshot{CronJob: newCronJob(t, "web", "schedule: '* * * * *'"), Now: parseTime(t, "10:00")}
	for since, want := range map[string]int{"09:58": 2, "08:20": 100, "08:19": 101, "2021-01-01T00:00:00Z": 101} {
		s.CronJob.CreationTimestamp.Time = parseTime(t, since)
		if plan := cronjob.NewPlan(s); plan.Missed != want || plan.Start == nil {
			t.Errorf("ACJ-9: since %s %d were missed, want %d; it creates %v", since, plan.Missed, want, plan.Start)
		}
	}
}

func TestStatus(t *testing.T) {
	s := &cronjob.Snapshot{CronJob: newCronJob(t, "web", "schedule: '*/5 * * * *'"), Now: parseTime(t, "10:10")}
	s.Jobs = []*batchv1.Job{newJob(t, s.CronJob, "10:05"), newJob(t, s.CronJob, "10:00 Complete"), newJob(t, s.CronJob, "09:55")}
	reference := func(name, uid, version string) corev1.ObjectReference {
		return corev1.ObjectReference{Kind: "Job", APIVersion: "batch/v1", Namespace: "default", Name: name, UID: types.UID(uid), ResourceVersion: version}
	}
	s.CronJob.Status.Active = []corev1.ObjectReference{reference("web-1662371700", "09:55", "3"), reference("web-1662371400", "09:50", "3")}
	want := &v1alpha1.AdvancedCronJobStatus{
		ObservedGeneration: 1, Type: v1alpha1.JobTemplate, LastScheduleTime: &metav1.Time{Time: parseTime(t, "10:10")},
		Active: []corev1.ObjectReference{reference("web-1662371700", "09:55", "3"), reference("web-1662372300", "10:05", "7")},
	}
	if diff := cmp.Diff(want, cronjob.NewPlan(s).Status); diff != "" {
		t.Errorf("ACJ-4: status (-want +got):\n%s", diff)
	}
	s.CronJob.Status = *want
	if plan := cronjob.NewPlan(s); plan.Status != nil {
		t.Errorf("ACJ-4: written again: %+v", plan.Status)
	}
}

// A status has room for so many jobs, whatever runs. (ACJ-22)
func TestStatusOfManyJobs(t *testing.T) {
	s := &cronjob.Snapshot{CronJob: newCronJob(t, "web", "schedule: '*/5 * * * *'"), Now: parseTime(t, "10:10")}
	for i := range 1500 {
		job := newJob(t, s.CronJob, "10:05")
		job.Name, job.UID = fmt.Sprintf("web-%04d", i), types.UID(fmt.Sprint(i))
		s.Jobs = append(s.Jobs, job)
	}
	if n := len(cronjob.NewPlan(s).Status.Active); n != 1000 {
		t.Errorf("ACJ-22: %d jobs in the status", n)
	}
}

func TestNewJobs(t *testing.T) {
	s := &cronjob.Snapshot{CronJob: newCronJob(t, "web", "schedule: 5 10 * * *", "timeZone: Asia/Shanghai"), Now: parseTime(t, "02:06").In(time.FixedZone("CEST", 2*3600))}
	s.CronJob.CreationTimestamp.Time = parseTime(t, "02:00")
	s.CronJob.Spec.Template.JobTemplate.Annotations = map[string]string{"a": "b"}
	want := metav1.ObjectMeta{Namespace: "default", Name: "web-1662343500", Labels: map[string]string{"team": "blue"},
		Annotations: map[string]string{"a": "b", "apps.kruise.io/scheduled-at": "2022-09-05T04:05:00+02:00"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "AdvancedCronJob", Name: "web", UID: "uid",
			Controller: new(true), BlockOwnerDeletion: new(true)}}}
	start := cronjob.NewPlan(s).Start
	if diff := cmp.Diff(&batchv1.Job{ObjectMeta: want, Spec: s.CronJob.Spec.Template.JobTemplate.Spec}, start.Job); diff != "" || start.BroadcastJob != nil {
		t.Errorf("ACJ-13.1: job (-want +got):\n%s", diff)
	}
	broadcast := newCronJob(t, "web", broadcastTemplate).Spec.Template
	broadcast.BroadcastJobTemplate.Metadata.Annotations = map[string]string{"a": "b"}
	s.CronJob.Spec.Template = broadcast
	start = cronjob.NewPlan(s).Start
	if diff := cmp.Diff(&v1alpha1.BroadcastJob{ObjectMeta: want, Spec: broadcast.BroadcastJobTemplate.Spec}, start.BroadcastJob); diff != "" || start.Job != nil {
		t.Errorf("ACJ-13.1: BroadcastJob (-want +got):\n%s", diff)
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*cronjob.Snapshot{nil, {}} {
		if plan := cronjob.NewPlan(s); len(plan.Problems) != 1 {
			t.Errorf("problems %v, want one", plan.Problems)
		}
	}
}
