// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan

	kind v1alpha1.TemplateKind
	last time.Time // the newest scheduled time that has a job, or has had one; zero for none

	edited time.Time // since when the cron job has its schedule
}

// findKind finds out what the template makes.
func (p *planner) findKind() {
	template := &p.CronJob.Spec.Template
	switch {
	case template.JobTemplate != nil:
		p.kind = v1alpha1.JobTemplate
	case template.ImageListPullJobTemplate != nil:
		p.kind = v1alpha1.ImageListPullJobTemplate
		if p.NoImageListPullJobs {
			p.problem(errors.New("spec.template.imageListPullJobTemplate: ImageListPullJobs are not served here: install the kind, or use another template"))
		}
	case template.BroadcastJobTemplate == nil:
		p.problem(errors.New("spec.template: " + noTemplate))
	case p.NoBroadcastJobs:
		p.problem(errors.New("spec.template.broadcastJobTemplate: BroadcastJobs are not served here: install the kind, or use jobTemplate"))
		fallthrough
	default:
		p.kind = v1alpha1.BroadcastJobTemplate
	}
	p.findRefused(template)
}

// findRefused finds what no job can be created with: admission refuses it in new cron jobs. (ACJ-9.1)
func (p *planner) findRefused(template *v1alpha1.CronJobTemplate) {
	if len(p.CronJob.Name) > longestName {
		p.problem(fmt.Errorf("metadata.name: %q %s", p.CronJob.Name, nameRule))
	}
	path := field.NewPath("spec", "template")
	var errs field.ErrorList
	switch {
	case template.JobTemplate == nil && template.ImageListPullJobTemplate != nil:
		spec := &template.ImageListPullJobTemplate.Spec
		path = path.Child("imageListPullJobTemplate", "spec")
		errs = append(images.ValidateList(spec, path), images.UnworkableList(spec, path)...)
	case template.JobTemplate != nil || template.BroadcastJobTemplate != nil:
		errs = validateJob(template, path)
	}
	for _, err := range errs {
		p.problem(err)
	}
}

// findLast finds the newest scheduled time that has been run. What the status says
// counts also if the jobs are gone. (ACJ-3)
func (p *planner) findLast() {
	if last := p.CronJob.Status.LastScheduleTime; last != nil {
		p.last = last.Time
	}
	for i := range p.plan.Children {
		p.last = later(p.last, p.plan.Children[i].Scheduled)
	}
}

// planHistory deletes the oldest finished jobs beyond the limits. (ACJ-5)
func (p *planner) planHistory() {
	spec := &p.CronJob.Spec
	p.clean(Failed, ptr.Deref(spec.FailedJobsHistoryLimit, v1alpha1.DefaultFailedJobsHistoryLimit))
	p.clean(Succeeded, ptr.Deref(spec.SuccessfulJobsHistoryLimit, v1alpha1.DefaultSuccessfulJobsHistoryLimit))
}

func (p *planner) clean(state State, limit int32) {
	var finished []Child
	for _, c := range p.plan.Children {
		if c.State == state && !c.Deleting {
			finished = append(finished, c)
		}
	}
	slices.SortStableFunc(finished, func(a, b Child) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Reference.Name, b.Reference.Name))
	})
	surplus := max(len(finished)-int(max(limit, 0)), 0)
	p.plan.Clean = append(p.plan.Clean, finished[:surplus]...)
}
