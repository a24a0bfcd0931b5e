// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

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
	template, images := newCronJob(t, "web", "schedule: '@hourly'"), newCronJob(t, "web", "schedule: '@hourly'", imageTemplate)
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
		{"lists are pulled one beside another", "ACJ-12.2", 1, inSpec(func(c *v1alpha1.AdvancedCronJob) {
			if c.Spec.Template.ImageListPullJobTemplate != nil && c.Spec.ConcurrencyPolicy == "" {
				c.Spec.ConcurrencyPolicy = v1alpha1.AllowConcurrent
			}
		})},
		{"images of a template before are pulled", "ACJ-14.2", 1, inSpec(func(c *v1alpha1.AdvancedCronJob) {
			if t := c.Spec.Template.ImageListPullJobTemplate; t != nil {
				t.Spec.Images = []string{"base:1"}
			}
		})},
	} {
		t.Run(bug.name, func(t *testing.T) {
			template := template
			if strings.Contains(bug.name, "pulled") {
				template = images
			}
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
