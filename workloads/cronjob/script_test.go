// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"context"
	"encoding/json"
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

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/cronjob"
)

// TestScripts plays what happens to the cron job web, each file in a cluster of its own. The cluster begins on Saturday, the 1st
// of January 2000, at midnight UTC. Shown are the writes of the controller and its events, each with its time, and jobs by their
// scheduled time. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	create                      creates it, with the lines of the spec that follow
//	edit                        changes it by the merge patch that follows
//	set-status                  likewise its status
//	at 10:05 [days]             lets time pass until then, of the same day or days later
//	count 10:05 [days]          likewise, and shows how many requests and events there were
//	finish Complete|Failed      ends the active jobs
//	delete-jobs                 deletes the finished ones, as a user or a time to live does
//	expire                      deletes the finished ones that say that they have no time to live
//	delete-active               deletes the active ones
//	stranger 10:05              creates a job of another owner that has the name
//	stop, start                 the controller
//	refuse, reject, break, lose what…
//	                            has the API server refuse requests, such as "create jobs", for a while or for good; not
//	                            answer before or after they were made
//	refuse-late what…           refuses them after five seconds
//	end what… [made]            ends the process of the controller with such a request, which is made or not
//	hold, release, relist resource
//	                            stops and resumes the events of a cache, or fills it anew
//	delete                      deletes the cron job
//	end-namespace               begins the deletion of its namespace
//	accept, heal                has it accept requests again; and answer them all
//	status, jobs                shows it, and the names of its jobs
//	metrics                     shows how late jobs were, in whole seconds, and how many times were missed
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		play(t, func(t *testing.T, w *world) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.run(t, d) })
		})
	})
}

// play plays a scenario in a cluster of its own.
func play(t *testing.T, scenario func(*testing.T, *world)) {
	w := &world{}
	fixture.Play(t, cronJobResource, func(c *fixture.Cluster) { w.Cluster = c }, func(t *testing.T) {
		w.T = t
		w.start()
		w.Sleep("1s")
		scenario(t, w)
		w.stop()
	}, jobResource, broadcastJobResource, imageListResource)
}

// world is a cluster with a cron job and its controller.
type world struct {
	*fixture.Cluster
	stop func()

	lock  sync.Mutex
	trace []string
	late  []time.Duration
	times int
}

// Started and Missed are cronjob.ScheduleMetrics.

// A controller that has just started finds its caches filled at once or 0.1 s later: whole seconds are noted.
func (w *world) Started(late time.Duration) { w.late = append(w.late, late.Truncate(time.Second)) }

func (w *world) Missed(times int) { w.times += times }

func (w *world) start() {
	w.T.Helper()
	kube := w.Client(fixture.ControllerUser)
	controller, err := cronjob.New(cronjob.Options{Kubernetes: kube, Workloads: newClient(w.T, w.Server, fixture.ControllerUser), Distribution: newDistribution(w.T, w.Server, fixture.ControllerUser),
		ControllerOptions: podwright.ControllerOptions{Recorders: func(string) record.EventRecorder { return &recorder{Recorder: &w.Events, world: w} }}, ScheduleMetrics: w})
	w.Must(err)
	w.heal()
	w.stop = w.Start(func(ctx context.Context) error { return controller.Run(ctx) })
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
		seconds, err := strconv.ParseInt(strings.TrimPrefix(name, "web-"), 10, 64)
		if err != nil {
			return name
		}
		return "web@" + time.Unix(seconds, 0).UTC().Format("15:04")
	})
	w.trace = append(w.trace, time.Now().UTC().Format("15:04:05 ")+line)
}

func (w *world) heal() {
	w.FailBefore(nil)
	w.FailAfter(w.made)
}

// made notes a write of the controller that was made.
func (w *world) made(r fakecluster.Request) error {
	if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
		w.note("%s %s", r.String(), fixture.NameIn(r))
	}
	return nil
}

func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	if err := w.command(d); err != nil {
		w.note("error: %v", err)
	}
	w.Sleep("1s") // until the controller has done what it does about it
	w.lock.Lock()
	defer w.lock.Unlock()
	if d.Cmd == "count" {
		w.sum()
	}
	out := strings.Join(slices.Compact(w.trace), "\n") // retries at one time, however many
	w.trace = nil
	if out == "" {
		return "nothing"
	}
	return out
}

func (w *world) command(d *datadriven.TestData) error {
	cronJobs := newClient(w.T, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace)
	var words []string
	for _, argument := range d.CmdArgs {
		words = append(words, argument.String())
	}
	what := strings.Join(words, " ")
	switch d.Cmd {
	case "create":
		_, err := cronJobs.Create(w.T.Context(), newCronJob(w.T, "web", d.Input), metav1.CreateOptions{})
		return err
	case "edit":
		_, err := cronJobs.Patch(w.T.Context(), "web", types.MergePatchType, []byte(d.Input), metav1.PatchOptions{})
		return err
	case "set-status":
		_, err := cronJobs.Patch(w.T.Context(), "web", types.MergePatchType, []byte(d.Input), metav1.PatchOptions{}, "status")
		return err
	case "count":
		w.ForgetRequests()
		return w.at(words)
	case "at":
		return w.at(words)
	case "finish":
		for _, j := range w.jobs(false) {
			finish(w.Cluster, j, what)
		}
	case "delete-jobs":
		return w.delete(true, "")
	case "expire":
		return w.delete(true, `"ttlSecondsAfterFinished":0`)
	case "delete-active":
		return w.delete(false, "")
	case "stranger":
		return w.stranger(what)
	case "stop":
		w.stop()
	case "start":
		w.start()
	case "refuse":
		w.FailBefore(fixture.Fail(what, fixture.ErrQuota))
	case "reject":
		w.FailBefore(fixture.Fail(what, apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "web", nil)))
	case "refuse-late":
		refuse := fixture.Fail(what, fixture.ErrQuota)
		w.FailBefore(func(r fakecluster.Request) error {
			err := refuse(r)
			if err != nil {
				time.Sleep(5 * time.Second)
			}
			return err
		})
	case "end":
		w.end(strings.CutSuffix(what, " made"))
	case "hold":
		w.Hold(what)
	case "release":
		w.Release(what)
	case "relist":
		w.Relist(what)
	case "delete":
		return cronJobs.Delete(w.T.Context(), "web", metav1.DeleteOptions{})
	case "jobs":
		for _, j := range jobsOf(w.Cluster) {
			w.note("%s", j.GetName())
		}
	case "break":
		w.FailBefore(fixture.Fail(what, fixture.ErrLost))
	case "end-namespace":
		w.FailBefore(fixture.Fail("create jobs", &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden,
			Message: "default is being terminated", Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}}}))
	case "lose":
		lost := fixture.Fail(what, fixture.ErrLost)
		w.FailAfter(func(r fakecluster.Request) error { _ = w.made(r); return lost(r) })
	case "accept":
		w.FailBefore(nil)
	case "heal":
		w.heal()
	case "status":
		return w.status()
	case "metrics":
		w.note("late: %v, missed: %d", w.late, w.times)
	default:
		return fmt.Errorf("no command %s", d.Cmd)
	}
	return nil
}

// end has nothing come of what the controller sends after a request, or from it on if it is not made.
func (w *world) end(request string, made bool) {
	var dead atomic.Bool
	w.FailBefore(func(r fakecluster.Request) error {
		if r.User != fixture.ControllerUser {
			return nil
		}
		if r.String() == request && !made {
			dead.Store(true)
		}
		if dead.Load() {
			return fixture.ErrLost
		}
		return nil
	})
	w.FailAfter(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && r.String() == request {
			dead.Store(true)
		}
		return w.made(r)
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
func (w *world) at(words []string) error {
	of, err := time.Parse("15:04:05", (words[0] + ":00")[:8])
	if err != nil {
		return err
	}
	days := 0
	if len(words) > 1 {
		if days, err = strconv.Atoi(words[1]); err != nil {
			return err
		}
	}
	now := time.Now().UTC()
	midnight := now.Truncate(24*time.Hour).AddDate(0, 0, days)
	w.Sleep(midnight.Add(time.Duration(of.Hour())*time.Hour + time.Duration(of.Minute())*time.Minute + time.Duration(of.Second())*time.Second).Sub(now).String())
	return nil
}

// jobs returns those that have finished, or have not.
func (w *world) jobs(finished bool) []job {
	return slices.DeleteFunc(jobsOf(w.Cluster), func(j job) bool { return j.finished != finished })
}

// delete deletes jobs that have a text in them.
func (w *world) delete(finished bool, with string) error {
	for _, j := range w.jobs(finished) {
		if data, err := json.Marshal(j.Object); err != nil || !strings.Contains(string(data), with) {
			continue
		}
		path := []string{"/apis", j.apiVersion, "namespaces", fixture.Web.Namespace, j.kind, j.GetName()}
		if err := w.Kube.CoreV1().RESTClient().Delete().AbsPath(path...).Do(w.T.Context()).Error(); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) stranger(at string) error {
	of, err := time.Parse("15:04", at)
	if err != nil {
		return err
	}
	scheduled := time.Now().UTC().Truncate(24 * time.Hour).Add(time.Duration(of.Hour())*time.Hour + time.Duration(of.Minute())*time.Minute)
	cronJob := newCronJob(w.T, "web", "schedule: '@daily'")
	cronJob.UID = "another"
	job := newJob(w.T, cronJob, scheduled.Format(time.RFC3339))
	job.ResourceVersion, job.UID = "", ""
	_, err = w.Kube.BatchV1().Jobs(job.Namespace).Create(w.T.Context(), job, metav1.CreateOptions{})
	return err
}

func (w *world) status() error {
	cronJob, err := newClient(w.T, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Get(w.T.Context(), "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	var active []string
	for _, reference := range cronJob.Status.Active {
		active = append(active, reference.Name)
	}
	last := "never"
	if t := cronJob.Status.LastScheduleTime; t != nil {
		last = t.UTC().Format("2 15:04")
	}
	w.note("%s, last %s, active %v, refused %q, generation %d", cronJob.Status.Type, last, active, cronJob.Annotations[cronjob.RefusedAnnotation], cronJob.Status.ObservedGeneration)
	return nil
}
