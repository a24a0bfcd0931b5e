// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/cronjob"
)

// TestScripts plays what happens to the cron job web: see fixture.PlayStories. The cluster begins on Saturday, the 1st of January 2000, at midnight UTC.
// After each command a second passes. Shown are the writes of the controller and its events, each with its time, and jobs by their scheduled time.
//
//	at 10:05 [days]             lets time pass until then, of the same day or days later
//	count 10:05 [days]          likewise, and shows how many requests and events there were
//	finish Complete|Failed      ends the active jobs
//	delete-jobs                 deletes the finished ones, as a user or a time to live does
//	expire                      deletes the finished ones that say that they have no time to live
//	delete-active               deletes the active ones
//	stranger 10:05              creates a job of another owner that has the name
//	refuse-late what…           has the API server refuse requests after five seconds
//	refuse-only what…           has it refuse these, and no others any more
//	end what… [made]            ends the process of the controller with such a request, which is made or not
//	look, jobs                  shows the cron job, and the names of its jobs
//	metrics                     shows how late jobs were, in whole seconds, and how many times were missed
func TestScripts(t *testing.T) {
	fixture.PlayStories(t, "testdata/scripts", cronJobResource, func(c *fixture.Cluster) *fixture.Story {
		w := &world{Cluster: c}
		quiet := func(act func(words []string)) func(...string) string {
			return func(words ...string) string { act(words); return "" }
		}
		return &fixture.Story{
			New:   func(int32) any { return newCronJob(t, "web", "schedule: '@daily'") },
			Start: func() (*fixture.Reconciles, func()) { return nil, w.start() },
			Wrote: func(r fakecluster.Request) { w.note("%s %s", r.String(), fixture.NameIn(r)) },
			Shown: w.shown,
			Further: map[string]func(...string) string{
				"at": quiet(w.at),
				"count": quiet(func(words []string) {
					w.ForgetRequests()
					w.at(words)
					w.counts = true
				}),
				"finish": quiet(func(words []string) {
					for _, j := range w.jobs(false) {
						finish(w.Cluster, j, words[0])
					}
				}),
				"delete-jobs":   quiet(func([]string) { w.delete(true, "") }),
				"expire":        quiet(func([]string) { w.delete(true, `"ttlSecondsAfterFinished":0`) }),
				"delete-active": quiet(func([]string) { w.delete(false, "") }),
				"stranger":      quiet(func(words []string) { w.stranger(words[0]) }),
				"refuse-late":   quiet(func(words []string) { w.refuseLate(strings.Join(words, " ")) }),
				"refuse-only":   quiet(func(words []string) { w.FailBefore(fixture.Fail(strings.Join(words, " "), fixture.ErrQuota)) }),
				"end":           quiet(func(words []string) { w.end(strings.CutSuffix(strings.Join(words, " "), " made")) }),
				"look":          quiet(func([]string) { w.look() }),
				"jobs": quiet(func([]string) {
					for _, j := range jobsOf(w.Cluster) {
						w.note("%s", j.GetName())
					}
				}),
				"metrics": quiet(func([]string) { w.note("late: %v, missed: %d", w.late, w.times) }),
			}}
	}, jobResource, broadcastJobResource, imageListResource)
}

// world is a cluster with a cron job and its controller.
type world struct {
	*fixture.Cluster
	lock  sync.Mutex
	trace []string
	// counts says that how often things happen is shown in the place of what happens.
	counts bool
	late   []time.Duration
	times  int
}

// Started and Missed are cronjob.ScheduleMetrics.

// A controller that has just started finds its caches filled at once or 0.1 s later: whole seconds are noted.
func (w *world) Started(late time.Duration) { w.late = append(w.late, late.Truncate(time.Second)) }

func (w *world) Missed(times int) { w.times += times }

func (w *world) start() (stop func()) {
	w.T.Helper()
	kube := w.Client(fixture.ControllerUser)
	return fixture.StartNew(w.Cluster, cronjob.New, cronjob.Options{Kubernetes: kube,
		Workloads: newClient(w.T, w.Server, fixture.ControllerUser), Distribution: newDistribution(w.T, w.Server, fixture.ControllerUser),
		ControllerOptions: podwright.ControllerOptions{Recorders: func(string) record.EventRecorder { return &recorder{Recorder: &w.Events, world: w} }}, ScheduleMetrics: w})
}

// recorder shows events when they happen.
type recorder struct {
	*fixture.Recorder
	world *world
}

func (r *recorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.world.note("%s %s: %s", kind, reason, fmt.Sprintf(format, args...))
	r.Recorder.Eventf(object, kind, reason, format, args...)
}

var unixSeconds = regexp.MustCompile(`web-(\d{9,})`)

// note adds a line to the trace.
func (w *world) note(format string, args ...any) {
	w.lock.Lock()
	defer w.lock.Unlock()
	line := unixSeconds.ReplaceAllStringFunc(fmt.Sprintf(format, args...), func(name string) string {
		seconds, _ := strconv.ParseInt(strings.TrimPrefix(name, "web-"), 10, 64) // digits it has
		return "web@" + time.Unix(seconds, 0).UTC().Format("15:04")
	})
	w.trace = append(w.trace, time.Now().UTC().Format("15:04:05 ")+line)
}

// shown shows what has come of a command within a second. Retries at one time are one.
func (w *world) shown() string {
	w.Sleep("1s")
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.counts {
		w.sum()
		w.counts = false
	}
	out := strings.Join(slices.Compact(w.trace), "\n")
	w.trace = nil
	return cmp.Or(out, "nothing") + "\n"
}

func (w *world) refuseLate(what string) {
	refuse := fixture.Fail(what, fixture.ErrQuota)
	w.FailBefore(func(r fakecluster.Request) error {
		err := refuse(r)
		if err != nil {
			time.Sleep(5 * time.Second)
		}
		return err
	})
}

// end has nothing come of what the controller sends after a request, or from it on if it is not made.
func (w *world) end(request string, made bool) {
	var dead, last atomic.Bool
	w.FailBefore(func(r fakecluster.Request) error {
		if r.User != fixture.ControllerUser || !dead.Load() && r.String() != request {
			return nil
		}
		if dead.Store(true); made && last.CompareAndSwap(false, true) {
			return nil
		}
		return fixture.ErrLost
	})
}

// sum puts into the place of what happened how often it did.
func (w *world) sum() {
	events := map[string]int{}
	for _, line := range w.trace {
		if words := strings.Fields(line); words[1] == "Warning" || words[1] == "Normal" {
			events[strings.TrimSuffix(words[2], ":")]++
		}
	}
	w.trace = w.Sent()
	for _, reason := range slices.Sorted(maps.Keys(events)) {
		w.trace = append(w.trace, fmt.Sprintf("%d events %s", events[reason], reason))
	}
}

// at lets time pass until a time of day.
func (w *world) at(words []string) {
	days, _ := strconv.Atoi(append(words, "0")[1])
	w.Sleep(time.Until(w.today(words[0]).AddDate(0, 0, days)).String())
}

// jobs returns those that have finished, or have not.
func (w *world) jobs(finished bool) []job {
	return slices.DeleteFunc(jobsOf(w.Cluster), func(j job) bool { return j.finished != finished })
}

// delete deletes jobs that have a text in them.
func (w *world) delete(finished bool, with string) {
	for _, j := range w.jobs(finished) {
		if strings.Contains(patches.JSON(w.T, j.Object), with) {
			w.Cluster.Object("delete", j.path(), "")
		}
	}
}

// today is a time of the present day.
func (w *world) today(text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04:05", time.Now().UTC().Format(time.DateOnly)+" "+(text + ":00")[:8])
	w.Must(err)
	return at
}

func (w *world) stranger(at string) {
	cronJob := newCronJob(w.T, "web", "schedule: '@daily'")
	cronJob.UID = "another"
	job := newJob(w.T, cronJob, w.today(at).Format(time.RFC3339))
	job.ResourceVersion, job.UID = "", ""
	_, err := w.Kube.BatchV1().Jobs(job.Namespace).Create(w.T.Context(), job, metav1.CreateOptions{})
	w.Must(err)
}

func (w *world) look() {
	cronJob, err := newClient(w.T, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Get(w.T.Context(), "web", metav1.GetOptions{})
	w.Must(err)
	var active []string
	for _, reference := range cronJob.Status.Active {
		active = append(active, reference.Name)
	}
	last := "never"
	if t := cronJob.Status.LastScheduleTime; t != nil {
		last = t.UTC().Format("2 15:04")
	}
	w.note("%s, last %s, active %v, refused %q, generation %d", cronJob.Status.Type, last, active, cronJob.Annotations[cronjob.RefusedAnnotation], cronJob.Status.ObservedGeneration)
}
