// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// planStatus computes the status. (ACJ-4)
func (p *planner) planStatus() {
	status := p.CronJob.Status.DeepCopy()
	status.ObservedGeneration, status.Type, status.Active = p.CronJob.Generation, p.kind, p.active()
	last := p.last
	if p.plan.Start != nil {
		last = later(last, p.plan.Start.Scheduled)
	}
	if !last.IsZero() {
		status.LastScheduleTime = &metav1.Time{Time: last}
	}
	if !equality.Semantic.DeepEqual(&p.CronJob.Status, status) {
		p.plan.Status = status
	}
}

// active refers to the jobs that have not finished. A reference stays as it was
// written first: that a job progresses is no news.
func (p *planner) active() (active []corev1.ObjectReference) {
	for i := range p.plan.Children {
		c := &p.plan.Children[i]
		if c.State != Active {
			continue
		}
		reference := c.Reference
		if at := slices.IndexFunc(p.CronJob.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == reference.UID }); at >= 0 {
			reference = p.CronJob.Status.Active[at]
		}
		active = append(active, reference)
	}
	return active
}
