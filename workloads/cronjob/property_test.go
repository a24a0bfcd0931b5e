// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// model is a cron job whose surroundings fail. Clocks go back, controllers end between any two writes, the API server refuses
// jobs, and users delete them.
type model struct {
	*rapid.T
	plan    func(*cronjob.Snapshot) *cronjob.Plan
	violate func(rule, format string, args ...any)
	s       *cronjob.Snapshot
	created map[string]bool
	newest  time.Time // lastScheduleTime
	noticed string    // the schedule that the controller saw last
	edited  time.Time // when it first saw that
}

// TestProperties: whatever happens, no time is run twice. (ACJ-3, ACJ-13.2)
func TestProperties(t *testing.T) {
	for name, of := range map[string]string{"Jobs": jobTemplate, "ImageListPullJobs": imageTemplate} {
		t.Run(name, func(t *testing.T) {
			template := newCronJob(t, "web", "schedule: '@hourly'", of)
			rapid.Check(t, func(t *rapid.T) {
				newModel(t, template, cronjob.NewPlan, func(rule, format string, args ...any) { t.Fatalf(rule+": "+format, args...) }).play()
			})
		})
	}
}

func newModel(t *rapid.T, template *v1alpha1.AdvancedCronJob, plan func(*cronjob.Snapshot) *cronjob.Plan, violate func(string, string, ...any)) *model {
	return &model{T: t, plan: plan, violate: violate, created: map[string]bool{},
		s: &cronjob.Snapshot{CronJob: template.DeepCopy(), Now: time.Date(2022, 9, 5, 10, 2, 3, 0, time.UTC)}}
}

// play plays a history.
func (m *model) play() {
	m.s.CronJob.CreationTimestamp.Time = m.s.Now
	m.change()
	m.noticed = m.s.CronJob.Spec.Schedule
	m.Repeat(map[string]func(*rapid.T){
		"":          func(*rapid.T) { m.check() },
		"reconcile": func(*rapid.T) { m.reconcile("") },
		"reconcile and end": func(t *rapid.T) {
			m.reconcile(rapid.SampledFrom([]string{"before the claim", "after the claim", "after the creation"}).Draw(t, "when"))
		},
		"reconcile, refused": func(t *rapid.T) {
			m.reconcile(rapid.SampledFrom([]string{"refused", "refused for long"}).Draw(t, "how"))
		},
		"reconcile, not replaced": func(*rapid.T) { m.reconcile("not replaced") },
		"restart":                 func(*rapid.T) { m.s.Unstarted = time.Time{} },
		"time passes":             func(t *rapid.T) { m.pass(rapid.IntRange(0, 600).Draw(t, "seconds")) },
		"much time passes":        func(t *rapid.T) { m.pass(rapid.IntRange(0, 4*24*3600).Draw(t, "seconds")) },
		"the clock goes back":     func(t *rapid.T) { m.pass(-rapid.IntRange(0, 3600).Draw(t, "seconds")) },
		"a job ends":              func(*rapid.T) { m.end() },
		"jobs are run": func(t *rapid.T) {
			for range rapid.IntRange(1, 3).Draw(t, "jobs") {
				m.pass(24 * 3600)
				m.reconcile("")
				m.end()
			}
		},
		"a job is deleted": func(*rapid.T) { m.delete() },
		"the user changes": func(*rapid.T) { m.change() },
	})
}

func (m *model) pass(seconds int) { m.s.Now = m.s.Now.Add(time.Duration(seconds) * time.Second) }

func (m *model) change() {
	spec := &m.s.CronJob.Spec
	spec.Schedule = rapid.SampledFrom([]string{"* * * * *", "*/5 * * * *", "0 * * * *", "@every 7m", "30 2 * * *"}).Draw(m.T, "schedule")
	spec.ConcurrencyPolicy = rapid.SampledFrom([]v1alpha1.ConcurrencyPolicy{"", v1alpha1.AllowConcurrent, v1alpha1.ForbidConcurrent, v1alpha1.ReplaceConcurrent}).Draw(m.T, "policy")
	spec.Paused = new(rapid.IntRange(0, 4).Draw(m.T, "paused") == 0)
	spec.StartingDeadlineSeconds = rapid.SampledFrom([]*int64{nil, new(int64(0)), new(int64(30)), new(int64(3600))}).Draw(m.T, "deadline")
	spec.SuccessfulJobsHistoryLimit = rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(1))}).Draw(m.T, "limit")
	if images := spec.Template.ImageListPullJobTemplate; images != nil {
		images.Spec.Images = []string{rapid.SampledFrom([]string{"base:1", "base:2"}).Draw(m.T, "image")}
	}
	m.s.CronJob.Generation++
}

// jobs are those that there are, of the kind of the template.
func (m *model) jobs() (all []metav1.Object) {
	for _, job := range m.s.Jobs {
		all = append(all, job)
	}
	for _, job := range m.s.ImageListPullJobs {
		all = append(all, job)
	}
	return all
}

// drop takes away a job.
func (m *model) drop(uid types.UID) {
	m.s.Jobs = slices.DeleteFunc(m.s.Jobs, func(job *batchv1.Job) bool { return job.UID == uid })
	m.s.ImageListPullJobs = slices.DeleteFunc(m.s.ImageListPullJobs, func(job *distributionv1alpha1.ImageListPullJob) bool { return job.UID == uid })
}

func (m *model) end() {
	for _, job := range m.s.Jobs {
		if len(job.Status.Conditions) == 0 {
			condition := rapid.SampledFrom([]batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed}).Draw(m.T, "condition")
			job.Status.Conditions = []batchv1.JobCondition{{Type: condition, Status: corev1.ConditionTrue}}
			return
		}
	}
	for _, job := range m.s.ImageListPullJobs {
		if status := &job.Status; status.CompletionTime == nil {
			status.CompletionTime, status.Desired = &metav1.Time{Time: m.s.Now}, 2
			status.Succeeded = rapid.Int32Range(1, 2).Draw(m.T, "succeeded")
			return
		}
	}
}

func (m *model) delete() {
	if jobs := m.jobs(); len(jobs) > 0 {
		job := jobs[rapid.IntRange(0, len(jobs)-1).Draw(m.T, "job")]
		if job.GetAnnotations()[v1alpha1.ScheduledAtAnnotation] == m.s.CronJob.Annotations[cronjob.RefusedAnnotation] {
			return // it has no time to live yet, and no user knows of it so soon
		}
		m.drop(job.GetUID())
	}
}

// reconcile applies a plan as far as it comes.
func (m *model) reconcile(ends string) {
	if m.noticed != m.s.CronJob.Spec.Schedule {
		m.noticed = m.s.CronJob.Spec.Schedule
		if m.s.CronJob.Annotations[cronjob.ScheduleAnnotation] != "" { // nothing is known of a change before the first reconcile
			m.edited = m.s.Now.Truncate(time.Second)
		}
	}
	since := m.edited
	if since.IsZero() && m.s.CronJob.Annotations[cronjob.ScheduleAnnotation] != "" { // nothing has run when it was written first
		since = m.s.CronJob.CreationTimestamp.Time
	}
	if since.Sub(m.s.Now) > time.Minute { // a clock was set back: the schedule counts from now on
		m.edited = m.s.Now.Truncate(time.Second)
	}
	plan := m.plan(m.s)
	m.judge(plan)
	if plan.Schedule != "" {
		m.annotate(cronjob.ScheduleAnnotation, plan.Schedule)
	}
	if !plan.Created.IsZero() {
		m.annotate(cronjob.RefusedAnnotation, "")
	}
	for _, c := range plan.Children {
		if c.Scheduled.Equal(m.s.Unstarted) {
			m.s.Unstarted = time.Time{}
		}
	}
	if ends == "not replaced" && len(plan.Replace) > 0 {
		m.holdBack(plan)
		return
	}
	m.remove(plan.Replace)
	if ends == "before the claim" {
		m.s.Unstarted = time.Time{}
		return
	}
	if plan.Status != nil {
		m.s.CronJob.Status = *plan.Status
	}
	if plan.Start == nil {
		m.remove(plan.Clean)
		return
	}
	m.s.Unstarted = plan.Start.Scheduled
	switch ends {
	case "refused":
		return
	case "refused for long":
		m.annotate(cronjob.RefusedAnnotation, plan.Start.Scheduled.Format(time.RFC3339))
		return
	case "after the claim":
		m.s.Unstarted = time.Time{}
		return
	}
	m.create(plan.Start)
	m.s.Unstarted = time.Time{}
	if ends == "" {
		m.annotate(cronjob.RefusedAnnotation, "")
		m.remove(plan.Clean)
	}
}

// create creates the job of a plan.
func (m *model) create(start *cronjob.Start) {
	uid := types.UID(fmt.Sprint("uid-", len(m.created)+1))
	var name string
	if images := start.ImageListPullJob; images != nil {
		if template := m.s.CronJob.Spec.Template.ImageListPullJobTemplate; !slices.Equal(images.Spec.Images, template.Spec.Images) {
			m.violate("ACJ-14.2", "it pulls %v, and the template says %v", images.Spec.Images, template.Spec.Images)
		}
		name, images.UID = images.Name, uid
		m.s.ImageListPullJobs = append(m.s.ImageListPullJobs, images)
	} else {
		name, start.Job.UID = start.Job.Name, uid
		m.s.Jobs = append(m.s.Jobs, start.Job)
	}
	if m.created[name] {
		m.violate("ACJ-13.2", "%s is run again", name)
	}
	m.created[name] = true
}

func (m *model) annotate(key, value string) {
	annotations := maps.Clone(m.s.CronJob.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[key] = value; value == "" {
		delete(annotations, key)
	}
	m.s.CronJob.Annotations = annotations
}

// holdBack applies a plan while the API server does not let a job go that is to be replaced.
func (m *model) holdBack(plan *cronjob.Plan) {
	if plan.Unclaimed != nil {
		m.s.CronJob.Status = *plan.Unclaimed
	}
	m.remove(plan.Clean)
	if again := m.plan(m.s); again.Start == nil || !again.Start.Scheduled.Equal(plan.Start.Scheduled) {
		m.violate("ACJ-12.2", "%s was not run, and is not due any more: %s", plan.Start.Scheduled, again)
	} else if again.Unclaimed != nil || len(again.Clean) > 0 {
		m.violate("ACJ-12.2", "it does not settle while a job cannot be replaced: %s", again)
	}
}

func (m *model) remove(children []cronjob.Child) {
	for _, c := range children {
		m.drop(c.Reference.UID)
	}
}

// replaces tells whether active jobs are deleted for a new one. If the user does not say, one job at a time pulls images.
func (m *model) replaces() bool {
	spec := &m.s.CronJob.Spec
	return spec.ConcurrencyPolicy == v1alpha1.ReplaceConcurrent || spec.ConcurrencyPolicy == "" && spec.Template.ImageListPullJobTemplate != nil
}

// judge checks what a plan may do.
func (m *model) judge(plan *cronjob.Plan) {
	spec := &m.s.CronJob.Spec
	active := 0
	for _, c := range plan.Children {
		if c.State == cronjob.Active {
			active++
		}
	}
	if start := plan.Start; start != nil {
		schedule, err := cron.ParseStandard(spec.Schedule)
		if err != nil {
			m.Fatal(err)
		}
		since := start.Scheduled // if it was refused, and the schedule is another by now, times count from that change on
		if m.edited.After(since) {
			since = m.edited
		}
		refused := start.Scheduled.Equal(m.s.Unstarted) || start.Scheduled.Format(time.RFC3339) == m.s.CronJob.Annotations[cronjob.RefusedAnnotation]
		switch late := m.s.Now.Sub(start.Scheduled); {
		case !schedule.Next(since).After(m.s.Now):
			m.violate("ACJ-9", "%s is run, and a later time has come", start.Scheduled)
		case !start.Scheduled.After(m.edited) && !refused && start.Scheduled.After(m.newest):
			m.violate("ACJ-8.1", "%s is run, and the schedule was changed at %s", start.Scheduled, m.edited)
		case late < 0 && !refused: // which was due by the clock of then
			m.violate("ACJ-9", "%s is run %s early", start.Scheduled, -late)
		case spec.StartingDeadlineSeconds != nil && late >= time.Duration(*spec.StartingDeadlineSeconds)*time.Second:
			m.violate("ACJ-11", "%s is run %s late", start.Scheduled, late)
		case *spec.Paused:
			m.violate("ACJ-6", "run while paused")
		case spec.ConcurrencyPolicy == v1alpha1.ForbidConcurrent && active > 0:
			m.violate("ACJ-12.1", "run beside %d", active)
		case m.replaces() && active != len(plan.Replace):
			m.violate("ACJ-12.2", "%d of %d are replaced", len(plan.Replace), active)
		}
	} else if len(plan.Replace) > 0 {
		m.violate("ACJ-12.2", "deleted for nothing")
	}
	if (plan.Start == nil) == (len(plan.Waiting) == 0) {
		m.violate("ACJ-9", "it creates %v, and waits for %v", plan.Start, plan.Waiting)
	}
	if !*spec.Paused && (plan.RequeueAfter <= 0 || plan.Next.Sub(m.s.Now) != plan.RequeueAfter) {
		m.violate("ACJ-10", "the next time is %s, it is called after %s", plan.Next, plan.RequeueAfter)
	}
	if ahead, known := m.ahead(plan); known && !*spec.Paused && plan.Next.After(ahead) {
		m.violate("ACJ-10", "the next time is %s, and %s is due before", plan.Next, ahead)
	}
}

// ahead is the first scheduled time that has not come, if few have come since the last job.
func (m *model) ahead(plan *cronjob.Plan) (at time.Time, known bool) {
	schedule, err := cron.ParseStandard(m.s.CronJob.Spec.Schedule)
	if err != nil {
		m.Fatal(err)
	}
	at = m.s.CronJob.CreationTimestamp.Time
	if !m.edited.IsZero() {
		at = m.edited // by a clock that was set back this may be before the creation
	}
	if last := m.s.CronJob.Status.LastScheduleTime; last != nil && (m.edited.IsZero() || last.After(at)) {
		at = last.Time
	}
	for _, c := range plan.Children {
		if c.Scheduled.After(at) {
			at = c.Scheduled
		}
	}
	at = at.UTC()
	for range 10 {
		if at = schedule.Next(at); at.After(m.s.Now) {
			return at, true
		}
	}
	return at, false
}

// check checks what holds after every step: lastScheduleTime does not go back, and what
// was done leaves nothing to do.
func (m *model) check() {
	if last := m.s.CronJob.Status.LastScheduleTime; last != nil {
		if last.Time.Before(m.newest) {
			m.violate("ACJ-3", "lastScheduleTime goes back from %s to %s", m.newest, last)
		}
		m.newest = last.Time
	}
	copied := *m.s
	copied.CronJob, copied.Jobs, copied.ImageListPullJobs = m.s.CronJob.DeepCopy(), slices.Clone(m.s.Jobs), slices.Clone(m.s.ImageListPullJobs)
	other := &model{T: m.T, plan: m.plan, violate: m.violate, s: &copied, created: maps.Clone(m.created), newest: m.newest, noticed: m.noticed, edited: m.edited}
	for range 3 {
		other.reconcile("")
	}
	plan := m.plan(other.s)
	if plan.Start != nil || plan.Status != nil || len(plan.Clean) > 0 {
		m.violate("ACJ-10", "it does not settle: %s", plan)
	}
	other.checkSettled(plan)
}

// checkSettled checks what holds if nothing is left to do.
func (m *model) checkSettled(plan *cronjob.Plan) {
	limits := map[cronjob.State]int32{
		cronjob.Succeeded: ptr.Deref(m.s.CronJob.Spec.SuccessfulJobsHistoryLimit, 3), cronjob.Failed: ptr.Deref(m.s.CronJob.Spec.FailedJobsHistoryLimit, 1),
	}
	for _, c := range plan.Children {
		if limit, finished := limits[c.State]; finished {
			if limits[c.State]--; limit == 0 {
				m.violate("ACJ-5", "%s is kept", c.Reference.Name)
			}
		}
	}
	last, unstarted := m.s.CronJob.Status.LastScheduleTime, m.s.Unstarted
	if last != nil && !unstarted.IsZero() && last.Time.Equal(unstarted) && len(plan.Waiting) > 0 && plan.Waiting[0].Reason.Rule == cronjob.RuleSchedule {
		m.violate("ACJ-13.2", "the job of %s was refused, and is not tried again", unstarted)
	}
}
