// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// ACJ-13.2: a user deletes a cron job whose job is refused, and creates another of the name. Its status says that it has run that
// time, as after a restore from a backup. The claim of the former cron job does not count for the new one.
func TestClaimIsOfOneCronJob(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cronJobs := newClient(t, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace)
		create := func() {
			_, err := cronJobs.Create(t.Context(), newCronJob(t, "web", "schedule: 5 0 * * *"), metav1.CreateOptions{})
			w.Must(err)
		}
		create()
		refuse := fixture.Fail("create jobs", fixture.ErrQuota)
		w.FailBefore(func(r request) error {
			err := refuse(r)
			if err != nil {
				time.Sleep(5 * time.Second) // the refusal takes so long that the controller next sees the other cron job
			}
			return err
		})
		w.Sleep("5m")
		last, err := cronJobs.Get(t.Context(), "web", metav1.GetOptions{})
		w.Must(err)
		if last.Status.LastScheduleTime == nil {
			t.Fatal("the time was not claimed")
		}
		w.Must(cronJobs.Delete(t.Context(), "web", metav1.DeleteOptions{}))
		create()
		other, err := cronJobs.Get(t.Context(), "web", metav1.GetOptions{})
		w.Must(err)
		other.Status = last.Status
		_, err = cronJobs.UpdateStatus(t.Context(), other, metav1.UpdateOptions{})
		w.Must(err)
		w.heal()
		w.Sleep("10m")
		if n := len(jobsOf(w.Cluster)); n != 0 {
			t.Errorf("%d jobs were created for a time that was run:\n%s", n, strings.Join(w.trace, "\n"))
		}
	})
}

// ACJ-5: a job of history has been deleted, and another has its name, which the controller does not see yet: that one stays.
func TestDeletionIsOfOneJob(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		_, err := newClient(t, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Create(t.Context(),
			newCronJob(t, "web", "schedule: 5 0 * * *", "successfulJobsHistoryLimit: 0"), metav1.CreateOptions{})
		w.Must(err)
		w.Sleep("6m")
		w.FailBefore(fixture.Fail("delete jobs", fixture.ErrQuota))
		finish(w.Cluster, w.jobs(false)[0], "Complete")
		w.Sleep("1s")
		w.Hold("jobs")
		w.Must(w.delete(true))
		w.Must(w.stranger("00:05"))
		w.heal()
		failures := w.Events.Count("FailedDelete")
		w.Sleep("10m")
		if n := w.Events.Count("FailedDelete"); n != failures {
			t.Errorf("%d events say that a job which is gone could not be deleted", n-failures)
		}
		if n := len(jobsOf(w.Cluster)); n != 1 {
			t.Errorf("the job that took the name is gone:\n%s", strings.Join(w.trace, "\n"))
		}
		w.Release("jobs")
	})
}

// ACJ-13.2: a job was refused, and is there by now. While the annotation that says so cannot be removed, it is not deleted:
// a process that comes later would run its time again.
func TestRefusedJobStaysUntilThatIsNoted(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		_, err := newClient(t, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Create(t.Context(),
			newCronJob(t, "web", "schedule: 5 0 * * *", "successfulJobsHistoryLimit: 0"), metav1.CreateOptions{})
		w.Must(err)
		w.FailBefore(fixture.Fail("create jobs", fixture.ErrQuota))
		w.Sleep("6m")
		w.FailBefore(func(r request) error {
			if r.User == fixture.ControllerUser && r.String() == "patch advancedcronjobs" {
				return fixture.ErrQuota
			}
			return nil
		})
		w.Sleep("5m")
		finish(w.Cluster, w.jobs(false)[0], "Complete")
		w.Sleep("5m")
		if n := len(jobsOf(w.Cluster)); n != 1 {
			t.Errorf("the job is gone, and the annotation says that it was refused:\n%s", strings.Join(w.trace, "\n"))
		}
		w.heal()
		w.Sleep("5m")
		if n := len(jobsOf(w.Cluster)); n != 0 {
			t.Errorf("the annotation is gone, and the job stays:\n%s", strings.Join(w.trace, "\n"))
		}
	})
}
