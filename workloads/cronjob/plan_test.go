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
	"sigs.k8s.io/yaml"

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
// see newJob. The lines "schedule-note" and "refused-at" are its annotations, "active" is a reference in its status, and "refusal" is one that the
// controller knows. Instead of the plan, "missed" shows how many times were missed, "status" the status, and "made" the job that is created.
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := stateOf(t, d)
		before := s.CronJob.DeepCopy()
		plan := cronjob.NewPlan(s)
		if diff := cmp.Diff(before, s.CronJob); diff != "" {
			t.Errorf("%s: the snapshot has changed (-before +after):\n%s", d.Pos, diff)
		}
		switch d.Cmd {
		case "missed":
			return fmt.Sprintf("%d, starts %t\n", plan.Missed, plan.Start != nil)
		case "status":
			if s.CronJob.Status = *plan.Status; cronjob.NewPlan(s).Status != nil {
				t.Errorf("%s: ACJ-4: the status is written again", d.Pos)
			}
			return yamlOf(t, plan.Status)
		case "made":
			return yamlOf(t, plan.Start.Job) + yamlOf(t, plan.Start.BroadcastJob)
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

// yamlOf shows an object; nil is nothing.
func yamlOf[T any](t *testing.T, object *T) string {
	t.Helper()
	if object == nil {
		return ""
	}
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func stateOf(t *testing.T, d *datadriven.TestData) *cronjob.Snapshot {
	t.Helper()
	var spec, jobs []string
	var active []corev1.ObjectReference
	annotations := map[string]string{}
	var refusal *cronjob.Refusal
	for line := range strings.Lines(d.Input) {
		line = strings.TrimSuffix(line, "\n")
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "job":
			jobs = append(jobs, rest)
		case "active":
			of := strings.Fields(rest)
			active = append(active, corev1.ObjectReference{Kind: "Job", APIVersion: "batch/v1", Namespace: "default",
				Name: of[0], UID: types.UID(of[1]), ResourceVersion: of[2]})
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
	s.CronJob.Status.Active = active
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
		case "created":
			s.CronJob.CreationTimestamp.Time = parseTime(t, value)
		case "local":
			s.Now = s.Now.In(time.FixedZone("CEST", 2*3600))
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

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*cronjob.Snapshot{nil, {}} {
		if plan := cronjob.NewPlan(s); len(plan.Problems) != 1 {
			t.Errorf("problems %v, want one", plan.Problems)
		}
	}
}
