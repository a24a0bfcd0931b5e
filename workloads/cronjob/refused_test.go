// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/cronjob"
)

var errInvalid = apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "web", nil)

// An API server that refuses every job for an hour: how many requests and events that costs. (ACJ-13.5)
func TestRefusalsAreBounded(t *testing.T) {
	for _, test := range []struct {
		name, schedule          string
		refuse                  error
		creates, patches, event int // at most
	}{
		// 12 scheduled times; each has its claim, and its annotation.
		{"ACJ-13.5: quota, every five minutes", "*/5 * * * *", fixture.ErrQuota, 12 + 21, 2*12 + 2, 2},
		{"ACJ-13.5: quota, hourly", "0 * * * *", fixture.ErrQuota, 1 + 21, 2 + 2, 2},
		{"ACJ-13.5: quota, every minute", "* * * * *", fixture.ErrQuota, 60 + 21, 2*60 + 2, 2},
		{"ACJ-13.5: what cannot heal, every five minutes", "*/5 * * * *", errInvalid, 12, 12 + 2, 2},
		{"ACJ-13.5: what cannot heal, hourly", "0 * * * *", errInvalid, 1, 1 + 2, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				creates, patches := 0, 0
				w.FailBefore(func(r request) error {
					switch {
					case r.User != fixture.ControllerUser:
					case r.Verb == "patch":
						patches++
					case r.String() == "create jobs":
						creates++
						return test.refuse
					}
					return nil
				})
				_, err := newClient(t, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Create(t.Context(),
					newCronJob(t, "web", "schedule: '"+test.schedule+"'"), metav1.CreateOptions{})
				w.Must(err)
				w.Sleep("59m50s")
				w.Sleep("10s") // the hour that begins before a scheduled time
				w.Sleep("59m50s")
				events := len(slices.DeleteFunc(slices.Clone(w.trace), func(line string) bool { return !strings.Contains(line, cronjob.ReasonFailedCreate) }))
				t.Logf("in two hours %d creates, %d patches, %d events", creates, patches, events)
				if creates == 0 || creates > 2*test.creates || patches > 2*test.patches || events == 0 || events > 2*test.event {
					t.Errorf("want at most %d creates, %d patches and %d events:\n%s", 2*test.creates, 2*test.patches, 2*test.event, strings.Join(w.trace, "\n"))
				}
			})
		})
	}
}

// What the API server does not let the controller note about a cron job holds up no job. (ACJ-8.1)
func TestRefusedNotesHoldUpNoJob(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		creates := 0
		w.FailBefore(func(r request) error {
			switch {
			case r.User == fixture.ControllerUser && r.String() == "patch advancedcronjobs":
				return fixture.ErrQuota
			case r.User == fixture.ControllerUser && r.String() == "create jobs":
				creates++
			}
			return nil
		})
		_, err := newClient(t, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Create(t.Context(),
			newCronJob(t, "web", "schedule: '*/5 * * * *'", "concurrencyPolicy: Allow"), metav1.CreateOptions{})
		w.Must(err)
		w.Sleep("59m50s")
		if creates < 11 || creates > 12 {
			t.Errorf("%d jobs in an hour, want one every five minutes:\n%s", creates, strings.Join(w.trace, "\n"))
		}
	})
}

// Answers about notes are lost: the controller looks what became of them, as its Rules let it, and no job is late. (ACJ-8.1, ACJ-13.2)
func TestLostAnswersOfNotes(t *testing.T) {
	allowed := map[string]bool{}
	for _, rule := range cronjob.Rules(cronjob.Options{}) {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				allowed[verb+" "+resource] = true
			}
		}
	}
	play(t, func(t *testing.T, w *world) {
		creates := 0
		w.FailBefore(func(r request) error {
			switch {
			case r.User != fixture.ControllerUser:
			case !allowed[r.String()]:
				return apierrors.NewForbidden(schema.GroupResource{}, r.String(), nil)
			case r.String() == "create jobs":
				if creates++; creates == 3 {
					return fixture.ErrQuota
				}
			}
			return nil
		})
		w.FailAfter(func(r request) error {
			if r.User == fixture.ControllerUser && r.String() == "patch advancedcronjobs" {
				return fixture.ErrLost
			}
			return nil
		})
		_, err := newClient(t, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Create(t.Context(),
			newCronJob(t, "web", "schedule: '*/5 * * * *'", "concurrencyPolicy: Allow"), metav1.CreateOptions{})
		w.Must(err)
		w.Sleep("59m50s")
		if creates < 12 || creates > 14 {
			t.Errorf("%d creates in an hour, want one every five minutes and one again:\n%s", creates, strings.Join(w.trace, "\n"))
		}
	})
}

// The process ends in a try of a job that was refused for a while, and another process goes on. The time is run once, whatever
// was written. That holds even if the job has ended, and its time to live is over, before the other process comes. (ACJ-13.2)
func TestProcessEndsInARetry(t *testing.T) {
	for _, test := range []struct {
		name string
		made bool // the job was created
	}{
		{"ACJ-13.2: before the job is created", false},
		{"ACJ-13.2: after the job was created", true},
	} {
		for _, template := range []string{
			strings.Replace(jobTemplate, "spec: {template", "spec: {ttlSecondsAfterFinished: 0, template", 1),
			strings.Replace(broadcastTemplate, "spec: {template", "spec: {completionPolicy: {type: Always, ttlSecondsAfterFinished: 0}, template", 1),
		} {
			t.Run(test.name, func(t *testing.T) {
				play(t, func(t *testing.T, w *world) {
					_, err := newClient(t, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Create(t.Context(),
						newCronJob(t, "web", "schedule: 5 0 * * *", template), metav1.CreateOptions{})
					w.Must(err)
					creates := 0
					isCreate := func(r request) bool {
						return r.User == fixture.ControllerUser && r.Verb == "create" && strings.HasSuffix(r.String(), "jobs")
					}
					count := func(r request) error {
						if isCreate(r) {
							creates++
						}
						return nil
					}
					w.FailBefore(func(r request) error {
						if isCreate(r) {
							return fixture.ErrQuota
						}
						return nil
					})
					w.Sleep("10m") // the annotation is there
					ended := errors.New("the process has ended")
					dead := false
					w.FailBefore(func(r request) error {
						dead = dead || isCreate(r) && !test.made
						if dead && r.User == fixture.ControllerUser {
							return ended
						}
						return nil
					})
					w.FailAfter(func(r request) error {
						_ = count(r)
						dead = dead || isCreate(r)
						return nil
					})
					w.Sleep("10m")
					if !dead {
						t.Fatal("it was not tried again")
					}
					w.stop()
					w.runOut()
					w.start()
					w.FailAfter(count)
					w.Sleep("10m")
					w.runOut()
					w.Sleep("20h")
					if creates != 1 {
						t.Errorf("%d jobs were created, want 1:\n%s", creates, strings.Join(w.trace, "\n"))
					}
					if left := jobsOf(w.Cluster); len(left) != 0 {
						t.Errorf("the time to live of %s is over, and it is there", left[0].GetName())
					}
					w.trace = nil
					w.Must(w.status())
					if !strings.Contains(w.trace[0], `refused ""`) {
						t.Errorf("the job was created, and the annotation stays: %s", w.trace[0])
					}
				})
			})
		}
	}
}

// runOut ends the active jobs, and deletes those that have a time to live: it is 0.
func (w *world) runOut() {
	for _, j := range w.jobs(false) {
		finish(w.Cluster, j, "Complete")
	}
	for _, j := range w.jobs(true) {
		raw, err := json.Marshal(j.Object)
		w.Must(err)
		if strings.Contains(string(raw), `"ttlSecondsAfterFinished":0`) {
			path := []string{"/apis", j.apiVersion, "namespaces", fixture.Web.Namespace, j.kind, j.GetName()}
			w.Must(w.Kube.CoreV1().RESTClient().Delete().AbsPath(path...).Do(w.T.Context()).Error())
		}
	}
}
