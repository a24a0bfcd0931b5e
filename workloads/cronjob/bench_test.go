// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/planbench"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// benchNow is the time of the plans, a minute after a scheduled time.
var benchNow = time.Date(2022, 9, 5, 10, 6, 0, 0, time.UTC)

// everyFive is a cron job in Berlin that was due every five minutes since some time ago.
func everyFive(since time.Duration) *v1alpha1.AdvancedCronJob {
	return &v1alpha1.AdvancedCronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web"},
		Spec: v1alpha1.AdvancedCronJobSpec{Schedule: "*/5 * * * *", TimeZone: new("Europe/Berlin"),
			Template: v1alpha1.CronJobTemplate{JobTemplate: &batchv1.JobTemplateSpec{}}},
		Status: v1alpha1.AdvancedCronJobStatus{LastScheduleTime: &metav1.Time{Time: benchNow.Add(-since)}}}
}

// BenchmarkPlan plans for n Jobs: all of them run since they never end, or all have ended and are deleted but for the last few.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name     string
		finished bool
	}{{"active", false}, {"history", true}} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			s := &Snapshot{Now: benchNow, CronJob: everyFive(time.Minute)}
			for i := range n {
				at := benchNow.Add(-time.Minute - time.Duration(5*i)*time.Minute)
				job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web-", at.Unix()), UID: types.UID(fmt.Sprint("uid-", i)),
					Annotations:     map[string]string{v1alpha1.ScheduledAtAnnotation: at.Format(time.RFC3339)},
					OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s.CronJob, v1alpha1.SchemeGroupVersion.WithKind(kind))}},
					Status: batchv1.JobStatus{StartTime: &metav1.Time{Time: at}}}
				if test.finished {
					job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
				}
				s.Jobs = append(s.Jobs, job)
			}
			if plan := NewPlan(s); plan.Status != nil {
				s.CronJob.Status = *plan.Status
			}
			return func() error {
				if p := NewPlan(s); len(p.Children) != n || p.Status != nil {
					return fmt.Errorf("%d jobs, problems %v, status %v", len(p.Children), p.Problems, p.Status)
				}
				return nil
			}
		})
	}
}

// BenchmarkSchedule plans for a cron job without jobs, by how long ago the last one was created.
func BenchmarkSchedule(b *testing.B) {
	for name, since := range map[string]time.Duration{"waiting": time.Minute, "due": 5 * time.Minute, "a year missed": 365 * 24 * time.Hour} {
		b.Run(name, func(b *testing.B) {
			s := &Snapshot{Now: benchNow, CronJob: everyFive(since)}
			b.ReportAllocs()
			for b.Loop() {
				NewPlan(s)
			}
		})
	}
}
