// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// describe says what a plan does.
func describe(plan *Plan) string {
	text := fmt.Sprint(plan, " again after ", plan.RequeueAfter)
	if plan.Status != nil {
		for _, reference := range plan.Status.Active {
			text += " " + string(reference.UID)
		}
		text += fmt.Sprint(plan.Status.LastScheduleTime, plan.Status.ObservedGeneration)
	}
	return text
}

// The filter of events is tested against the planner itself. If a change of a cron job, or of a job of it, changes the plan, the
// cron job is enqueued.
func TestEventsThatMatter(t *testing.T) {
	now := time.Date(2022, 9, 5, 10, 6, 0, 0, time.UTC)
	base := &v1alpha1.AdvancedCronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid", Generation: 1, Labels: map[string]string{"a": "b"}, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Spec: v1alpha1.AdvancedCronJobSpec{Schedule: "*/5 * * * *", ConcurrencyPolicy: v1alpha1.ForbidConcurrent, SuccessfulJobsHistoryLimit: new(int32(1)),
			Template: v1alpha1.CronJobTemplate{JobTemplate: &batchv1.JobTemplateSpec{}, BroadcastJobTemplate: &v1alpha1.BroadcastJobTemplateSpec{}}},
		Status: v1alpha1.AdvancedCronJobStatus{LastScheduleTime: &metav1.Time{Time: now.Add(-6 * time.Minute)}},
	}
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(base, v1alpha1.SchemeGroupVersion.WithKind(kind))}
	meta := func(at string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "default", Name: "web-" + at, UID: types.UID(at), ResourceVersion: "7", OwnerReferences: owner,
			Annotations: map[string]string{v1alpha1.ScheduledAtAnnotation: "2022-09-05T" + at + ":00Z"}}
	}
	started := &metav1.Time{Time: now.Add(-10 * time.Minute)}
	broadcastOnly, imagesOnly := base.DeepCopy(), base.DeepCopy()
	broadcastOnly.Spec.Template.JobTemplate = nil
	imagesOnly.Spec.Template = v1alpha1.CronJobTemplate{ImageListPullJobTemplate: &v1alpha1.ImageListPullJobTemplateSpec{
		Spec: distributionv1alpha1.ImageListPullJobSpec{Images: []string{"base"}}}}
	planner := mutation.Planner[Snapshot]{Situations: map[string]*Snapshot{},
		Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }}
	for _, state := range []string{"finished", "active"} { // the former of two jobs has finished anyway
		job := batchv1.JobStatus{StartTime: started, Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}
		broadcast := v1alpha1.BroadcastJobStatus{StartTime: started, Conditions: []v1alpha1.JobCondition{{Type: v1alpha1.JobFailed, Status: corev1.ConditionTrue}}}
		pull := distributionv1alpha1.ImageListPullJobStatus{StartTime: started, CompletionTime: started, Desired: 2, Succeeded: 2}
		jobs := []*batchv1.Job{{ObjectMeta: meta("09:55"), Status: job}, {ObjectMeta: meta("10:00"), Status: job}}
		broadcasts := []*v1alpha1.BroadcastJob{{ObjectMeta: meta("09:55"), Status: broadcast}, {ObjectMeta: meta("10:00"), Status: broadcast}}
		pulls := []*distributionv1alpha1.ImageListPullJob{{ObjectMeta: meta("09:55"), Status: pull}, {ObjectMeta: meta("10:00"), Status: pull}}
		if state == "active" {
			jobs[1].Status.Conditions, broadcasts[1].Status.Conditions, pulls[1].Status.CompletionTime = nil, nil, nil
		}
		planner.Situations["Job, "+state] = &Snapshot{CronJob: base, Jobs: jobs, Now: now}
		planner.Situations["BroadcastJob, "+state] = &Snapshot{CronJob: broadcastOnly, BroadcastJobs: broadcasts, Now: now}
		planner.Situations["ImageListPullJob, "+state] = &Snapshot{CronJob: imagesOnly, ImageListPullJobs: pulls, Now: now}
	}
	reads := mutation.Reads{}
	can := regexp.MustCompile(mutation.Metadata + `|OwnerReferences|^\.Status`)
	mutation.CheckLists(t, reads, planner, mutation.Plan[batchv1.Job]{What: "Job", Copy: (*batchv1.Job).DeepCopy, Can: can,
		Matters: mutation.Concerned("web", childFields, childChanged(jobChild))}, func(s *Snapshot) *[]*batchv1.Job { return &s.Jobs })
	mutation.CheckLists(t, reads, planner, mutation.Plan[v1alpha1.BroadcastJob]{What: "BroadcastJob", Can: can,
		Copy:    (*v1alpha1.BroadcastJob).DeepCopy,
		Matters: mutation.Concerned("web", childFields, childChanged(broadcastJobChild)),
	}, func(s *Snapshot) *[]*v1alpha1.BroadcastJob { return &s.BroadcastJobs })
	mutation.CheckLists(t, reads, planner, mutation.Plan[distributionv1alpha1.ImageListPullJob]{What: "ImageListPullJob", Can: can,
		Copy:    (*distributionv1alpha1.ImageListPullJob).DeepCopy,
		Matters: mutation.Concerned("web", childFields, childChanged(imageListPullJobChild)),
	}, func(s *Snapshot) *[]*distributionv1alpha1.ImageListPullJob { return &s.ImageListPullJobs })
	for _, state := range []string{"finished", "active"} {
		s := planner.Situations["Job, "+state]
		mutation.Plan[v1alpha1.AdvancedCronJob]{What: "AdvancedCronJob", Copy: (*v1alpha1.AdvancedCronJob).DeepCopy, Can: can,
			Matters: mutation.Declared[v1alpha1.AdvancedCronJob](cronJobFields), Of: func(cronJob *v1alpha1.AdvancedCronJob) string {
				with := *s
				with.CronJob = cronJob
				return planner.Describe(&with)
			}}.Check(t, reads, s.CronJob)
	}
	reads.Require(t, "Job.Status.Conditions[].Type", "Job.Status.Conditions[].Status", "Job.Status.StartTime", "BroadcastJob.Status.Conditions[].Status",
		"ImageListPullJob.Status.CompletionTime", "ImageListPullJob.Status.Succeeded", "ImageListPullJob.Status.Desired",
		"AdvancedCronJob.Status.LastScheduleTime", "AdvancedCronJob.ObjectMeta.Generation")
}

// When jobs come from nowhere, change hands and go, their cron jobs are enqueued.
func TestJobsThatComeAndGo(t *testing.T) {
	of := func(owner, apiVersion string, uid ...types.UID) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "job", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: apiVersion, Kind: kind, Name: owner, UID: append(uid, "")[0], Controller: new(true)}}}}
	}
	const ours = "apps.kruise.io/v1alpha1"
	mutation.CheckEvents(t, childChanged(jobChild),
		mutation.On("it appears", nil, of("a", ours), "default/a"),
		mutation.On("it goes", of("a", ours), nil, "default/a"),
		mutation.On("it changes hands", of("a", ours), of("b", ours), "default/a default/b"),
		mutation.On("of another one of the name", of("a", ours), of("a", ours, "new"), "default/a default/a"),
		mutation.On("it is released", of("a", ours), &batchv1.Job{}, "default/a"),
		mutation.On("it stays", of("a", ours), of("a", ours), ""),
		mutation.On("in another version", nil, of("a", "apps.kruise.io/v1beta1"), "default/a"),
		mutation.On("a job of another API", nil, of("a", "other.io/v1"), ""),
		mutation.On("a job without an owner", nil, &batchv1.Job{}, ""),
	)
}
