// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// model is a cron job in a world where clocks go back, controllers end between any two
// writes, the API server refuses jobs, and users delete them.
type model struct {
	*rapid.T
	plan    func(*cronjob.Snapshot) *cronjob.Plan
	violate func(rule, format string, args ...any)
	s       *cronjob.Snapshot
	created map[string]bool
	newest  time.Time // lastScheduleTime
	noticed bool      // the controller has seen the schedule
	edited  time.Time // when it saw it
}

// TestProperties: whatever happens, no time is run twice. (ACJ-3, ACJ-13.2)
func TestProperties(t *testing.T) {
	template := newCronJob(t, "web", "schedule: '@hourly'")
	rapid.Check(t, func(t *rapid.T) {
		newModel(t, template, cronjob.NewPlan, func(rule, format string, args ...any) { t.Fatalf(rule+": "+format, args...) }).play()
	})
}

func newModel(t *rapid.T, template *v1alpha1.AdvancedCronJob, plan func(*cronjob.Snapshot) *cronjob.Plan, violate func(string, string, ...any)) *model {
	return &model{T: t, plan: plan, violate: violate, created: map[string]bool{},
		s: &cronjob.Snapshot{CronJob: template.DeepCopy(), Now: time.Date(2022, 9, 5, 10, 2, 3, 0, time.UTC)}}
}

// play plays a history.
func (m *model) play() {
	m.s.CronJob.CreationTimestamp.Time = m.s.Now
	m.change()
	m.noticed = true
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
	before := spec.Schedule
	spec.Schedule = rapid.SampledFrom([]string{"* * * * *", "*/5 * * * *", "0 * * * *", "@every 7m", "30 2 * * *"}).Draw(m.T, "schedule")
	spec.ConcurrencyPolicy = rapid.SampledFrom([]v1alpha1.ConcurrencyPolicy{"", v1alpha1.AllowConcurrent, v1alpha1.ForbidConcurrent, v1alpha1.ReplaceConcurrent}).Draw(m.T, "policy")
	spec.Paused = new(rapid.IntRange(0, 4).Draw(m.T, "paused") == 0)
	spec.StartingDeadlineSeconds = rapid.SampledFrom([]*int64{nil, new(int64(0)), new(int64(30)), new(int64(3600))}).Draw(m.T, "deadline")
	spec.SuccessfulJobsHistoryLimit = rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(1))}).Draw(m.T, "limit")
	m.s.CronJob.Generation++
	m.noticed = m.noticed && spec.Schedule == before
}

func (m *model) end() {
	for _, job := range m.s.Jobs {
		if len(job.Status.Conditions) == 0 {
			condition := rapid.SampledFrom([]batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed}).Draw(m.T, "condition")
			job.Status.Conditions = []batchv1.JobCondition{{Type: condition, Status: corev1.ConditionTrue}}
			return
		}
	}
}

func (m *model) delete() {
	if len(m.s.Jobs) > 0 {
		at := rapid.IntRange(0, len(m.s.Jobs)-1).Draw(m.T, "job")
		if m.s.Jobs[at].Annotations[v1alpha1.ScheduledAtAnnotation] == m.s.CronJob.Annotations[cronjob.RefusedAnnotation] {
			return // it has no time to live yet, and no user knows of it so soon
		}
		m.s.Jobs = slices.Delete(m.s.Jobs, at, at+1)
	}
}

// reconcile applies a plan as far as it comes.
func (m *model) reconcile(ends string) {
	if !m.noticed {
		m.noticed = true
		if m.s.CronJob.Annotations[cronjob.ScheduleAnnotation] != "" { // nothing is known of a change before the first reconcile
			m.edited = m.s.Now.Truncate(time.Second)
		}
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
	if m.created[plan.Start.Job.Name] {
		m.violate("ACJ-13.2", "%s is run again", plan.Start.Job.Name)
	}
	m.created[plan.Start.Job.Name] = true
	plan.Start.Job.UID = types.UID(fmt.Sprint("uid-", len(m.created)))
	m.s.Jobs = append(m.s.Jobs, plan.Start.Job)
	m.s.Unstarted = time.Time{}
	if ends == "" {
		m.annotate(cronjob.RefusedAnnotation, "")
		m.remove(plan.Clean)
	}
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

// holdBack applies a plan where the API server does not let a job go that is to be replaced.
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
		m.s.Jobs = slices.DeleteFunc(m.s.Jobs, func(job *batchv1.Job) bool { return job.UID == c.Reference.UID })
	}
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
		switch late := m.s.Now.Sub(start.Scheduled); {
		case !schedule.Next(start.Scheduled).After(m.s.Now):
			m.violate("ACJ-9", "%s is run, and a later time has come", start.Scheduled)
		case !start.Scheduled.After(m.edited) && !start.Scheduled.Equal(m.s.Unstarted) && start.Scheduled.After(m.newest):
			m.violate("ACJ-8.1", "%s is run, and the schedule is as it is since %s", start.Scheduled, m.edited)
		case late < 0 && !start.Scheduled.Equal(m.s.Unstarted): // which was due by the clock of then
			m.violate("ACJ-9", "%s is run %s early", start.Scheduled, -late)
		case spec.StartingDeadlineSeconds != nil && late >= time.Duration(*spec.StartingDeadlineSeconds)*time.Second:
			m.violate("ACJ-11", "%s is run %s late", start.Scheduled, late)
		case *spec.Paused:
			m.violate("ACJ-6", "run while paused")
		case spec.ConcurrencyPolicy == v1alpha1.ForbidConcurrent && active > 0:
			m.violate("ACJ-12.1", "run beside %d", active)
		case spec.ConcurrencyPolicy == v1alpha1.ReplaceConcurrent && active != len(plan.Replace):
			m.violate("ACJ-12.2", "%d of %d are replaced", len(plan.Replace), active)
		}
	} else if len(plan.Replace) > 0 {
		m.violate("ACJ-12.2", "deleted for nothing")
	}
	if (plan.Start == nil) == (plan.Waiting == nil) {
		m.violate("ACJ-9", "it creates %v, and waits for %v", plan.Start, plan.Waiting)
	}
	if !*spec.Paused && (plan.RequeueAfter <= 0 || plan.Next.Sub(m.s.Now) != plan.RequeueAfter) {
		m.violate("ACJ-10", "the next time is %s, it is called after %s", plan.Next, plan.RequeueAfter)
	}
	if ahead, known := m.ahead(plan); known && !*spec.Paused && plan.Next.After(ahead) {
		m.violate("ACJ-10", "the next time is %s, and %s is due before", plan.Next, ahead)
	}
}

// ahead is the first scheduled time that has not come, where few have come since the last job.
func (m *model) ahead(plan *cronjob.Plan) (at time.Time, known bool) {
	schedule, err := cron.ParseStandard(m.s.CronJob.Spec.Schedule)
	if err != nil {
		m.Fatal(err)
	}
	at = m.s.CronJob.CreationTimestamp.Time
	if last := m.s.CronJob.Status.LastScheduleTime; last != nil {
		at = last.Time
	}
	for _, c := range plan.Children {
		if c.Scheduled.After(at) {
			at = c.Scheduled
		}
	}
	if m.edited.After(at) {
		at = m.edited
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
	copied.CronJob, copied.Jobs = m.s.CronJob.DeepCopy(), slices.Clone(m.s.Jobs)
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

// checkSettled checks what holds where nothing is left to do.
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
	if last != nil && !unstarted.IsZero() && last.Time.Equal(unstarted) && plan.Waiting != nil && plan.Waiting.Rule == cronjob.RuleSchedule {
		m.violate("ACJ-13.2", "the job of %s was refused, and is not tried again", unstarted)
	}
}

// mostHistories limits the search for a bug. One of 500 finds the rarest.
const mostHistories = 3000

// oneHistory checks one history, that of a seed.
func oneHistory(t *testing.T, seed uint64, check func(*rapid.T)) {
	t.Helper()
	for name, value := range map[string]string{"rapid.seed": fmt.Sprint(seed), "rapid.checks": "1"} {
		of := flag.Lookup(name)
		before := of.Value.String()
		defer func() { _ = of.Value.Set(before) }()
		if err := of.Value.Set(value); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, check)
}

// TestPropertiesFindBugs plants bugs, each of which some histories must find.
func TestPropertiesFindBugs(t *testing.T) {
	template := newCronJob(t, "web", "schedule: '@hourly'")
	inSpec := func(misread func(*v1alpha1.AdvancedCronJob)) func(*cronjob.Snapshot) *cronjob.Plan {
		return func(s *cronjob.Snapshot) *cronjob.Plan {
			with := *s
			with.CronJob = s.CronJob.DeepCopy()
			misread(with.CronJob)
			return cronjob.NewPlan(&with)
		}
	}
	inPlan := func(spoil func(*cronjob.Plan)) func(*cronjob.Snapshot) *cronjob.Plan {
		return func(s *cronjob.Snapshot) *cronjob.Plan {
			plan := cronjob.NewPlan(s)
			spoil(plan)
			return plan
		}
	}
	for _, bug := range []struct {
		name, breaks string
		first        uint64 // the seed to begin with: it found the bug before, which saves time, and nothing else
		plan         func(*cronjob.Snapshot) *cronjob.Plan
	}{
		{"lastScheduleTime comes of the jobs that are left", "ACJ-13.2", 11, inSpec(func(c *v1alpha1.AdvancedCronJob) { c.Status.LastScheduleTime = nil })},
		{"lastScheduleTime goes back", "ACJ-3", 493, inPlan(func(p *cronjob.Plan) {
			if p.Status != nil && p.Start == nil && len(p.Children) == 0 {
				p.Status.LastScheduleTime = nil
			}
		})},
		{"times of a new schedule count from the last job", "ACJ-8.1", 16, inSpec(func(c *v1alpha1.AdvancedCronJob) { delete(c.Annotations, cronjob.ScheduleAnnotation) })},
		{"nothing claims a time", "ACJ-13.2", 13, inPlan(func(p *cronjob.Plan) {
			if p.Start != nil {
				p.Status = nil
			}
		})},
		{"the starting deadline is not read", "ACJ-11", 2, inSpec(func(c *v1alpha1.AdvancedCronJob) { c.Spec.StartingDeadlineSeconds = nil })},
		{"paused is not read", "ACJ-6", 11, inSpec(func(c *v1alpha1.AdvancedCronJob) { c.Spec.Paused = nil })},
		{"the concurrency policy is not read", "ACJ-12.1", 152, inSpec(func(c *v1alpha1.AdvancedCronJob) { c.Spec.ConcurrencyPolicy = "" })},
		{"active jobs stay", "ACJ-12.2", 172, inPlan(func(p *cronjob.Plan) { p.Replace = nil })},
		{"nobody asks for the next time", "ACJ-10", 1, inPlan(func(p *cronjob.Plan) { p.RequeueAfter = 0 })},
		{"finished jobs stay", "ACJ-5", 11, inPlan(func(p *cronjob.Plan) { p.Clean = nil })},
		{"it stops after 100 missed times", "ACJ-9", 11, inPlan(func(p *cronjob.Plan) {
			if p.Missed > 100 {
				p.Start = nil
			}
		})},
		{"the first of many missed times is run", "ACJ-9", 11, func(s *cronjob.Snapshot) *cronjob.Plan {
			with, plan := *s, cronjob.NewPlan(s)
			if last := s.CronJob.Status.LastScheduleTime; plan.Missed > 1 && last != nil {
				with.Now = last.Add(s.Now.Sub(last.Time) / 2)
				return cronjob.NewPlan(&with)
			}
			return plan
		}},
		{"a time is claimed whose job is held back", "ACJ-12.2", 2277, inPlan(func(p *cronjob.Plan) { p.Unclaimed = p.Status })},
		{"a refused job is forgotten", "ACJ-13.2", 23, func(s *cronjob.Snapshot) *cronjob.Plan {
			with := *s
			with.Unstarted = time.Time{}
			return cronjob.NewPlan(&with)
		}},
	} {
		t.Run(bug.name, func(t *testing.T) {
			found := false
			others := map[string]int{}
			for i := range uint64(mostHistories) {
				if found {
					break
				}
				oneHistory(t, bug.first+i, func(rt *rapid.T) {
					newModel(rt, template, bug.plan, func(rule, _ string, _ ...any) {
						others[rule]++
						if rule == bug.breaks && !found {
							found = true
							t.Logf("found by seed %d", bug.first+i)
						}
					}).play()
				})
			}
			if !found {
				t.Errorf("no violation of %s; of others: %v", bug.breaks, others)
			}
		})
	}
}
