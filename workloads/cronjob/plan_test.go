// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
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

// TestPlans shows the plans for the states in testdata/plans.txt. They are of a cron job of every five minutes that was created at 10:02. It has the
// lines in its spec that follow, and the time is now. Its status has the time last; unstarted is a time that was claimed. A line "job" is a Job,
// see newJob. The lines "schedule-note" and "refused-at" are its annotations, and "refusal" is one that the controller knows.
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := stateOf(t, d)
		before := s.CronJob.DeepCopy()
		plan := cronjob.NewPlan(s)
		if diff := cmp.Diff(before, s.CronJob); diff != "" {
			t.Errorf("%s: the snapshot has changed (-before +after):\n%s", d.Pos, diff)
		}
		var out strings.Builder
		for line := range strings.Lines(plan.String()) {
			if line = strings.TrimSpace(line); line != "write the status" && !strings.HasPrefix(line, "note the schedule") {
				fmt.Fprintln(&out, line)
			}
		}
		if plan.RequeueAfter > 0 {
			fmt.Fprintln(&out, "again after", plan.RequeueAfter)
		}
		return out.String()
	})
}

func stateOf(t *testing.T, d *datadriven.TestData) *cronjob.Snapshot {
	t.Helper()
	var spec, jobs []string
	annotations := map[string]string{}
	var refusal *cronjob.Refusal
	for line := range strings.Lines(d.Input) {
		line = strings.TrimSuffix(line, "\n")
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "job":
			jobs = append(jobs, rest)
		case "schedule-note":
			annotations[cronjob.ScheduleAnnotation] = rest
		case "refused-at":
			annotations[cronjob.RefusedAnnotation] = rest
		case "refusal": // of the job of a time, which is tried again at another time, or not at all
			of, until, again := strings.Cut(rest, " ")
			if refusal = (&cronjob.Refusal{Scheduled: parseTime(t, of), Message: "no"}); again {
				refusal.Until = parseTime(t, until)
			}
		default:
			spec = append(spec, line)
		}
	}
	if !strings.Contains(d.Input, "schedule:") {
		spec = append(spec, "schedule: '*/5 * * * *'")
	}
	s := &cronjob.Snapshot{CronJob: newCronJob(t, "web", spec...), Refused: refusal}
	s.CronJob.CreationTimestamp.Time, s.CronJob.Annotations = parseTime(t, "10:02"), annotations
	for _, job := range jobs {
		s.Jobs = append(s.Jobs, newJob(t, s.CronJob, job))
	}
	for _, arg := range d.CmdArgs {
		value := strings.Join(arg.Vals, "")
		switch arg.Key {
		case "now":
			s.Now = parseTime(t, value)
		case "last":
			s.CronJob.Status.LastScheduleTime = &metav1.Time{Time: parseTime(t, value)}
		case "unstarted":
			s.Unstarted = parseTime(t, value)
		case "name":
			s.CronJob.Name = value
		case "deleting":
			s.CronJob.DeletionTimestamp = &metav1.Time{Time: s.Now}
		case "unserved":
			s.NoBroadcastJobs, s.NoImageListPullJobs = value == "BroadcastJobs", value == "ImageListPullJobs"
		default:
			t.Fatalf("%s: unknown argument %s", d.Pos, arg.Key)
		}
	}
	return s
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
