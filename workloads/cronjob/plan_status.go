// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planStatus computes the status. (ACJ-4)
func (p *planner) planStatus() {
	claimed := p.last
	if p.plan.Start != nil {
		claimed = later(claimed, p.plan.Start.Scheduled)
	}
	p.plan.Status = p.status(claimed)
	if len(p.plan.Replace) > 0 {
		p.plan.Unclaimed = p.status(p.last) // (ACJ-12.2)
	}
}

// status is the status with a lastScheduleTime, nil if the present one stands.
func (p *planner) status(last time.Time) *v1alpha1.AdvancedCronJobStatus {
	status := p.CronJob.Status.DeepCopy()
	status.ObservedGeneration, status.Type, status.Active = p.CronJob.Generation, p.kind, p.active()
	if !last.IsZero() {
		status.LastScheduleTime = &metav1.Time{Time: last}
	}
	if equality.Semantic.DeepEqual(&p.CronJob.Status, status) {
		return nil
	}
	return status
}

// mostActive is how many jobs a status refers to: with Allow, jobs that never finish become more and more. (ACJ-22)
const mostActive = 1000

// active refers to the jobs that have not finished, the first 1,000. A reference stays as it was
// written first: that a job progresses is no news.
func (p *planner) active() (active []corev1.ObjectReference) {
	written := make(map[types.UID]*corev1.ObjectReference, len(p.CronJob.Status.Active))
	for i := range slices.Backward(p.CronJob.Status.Active) { // of two of one job the first counts
		written[p.CronJob.Status.Active[i].UID] = &p.CronJob.Status.Active[i]
	}
	for i := range p.plan.Children {
		c := &p.plan.Children[i]
		if c.State != Active {
			continue
		}
		if len(active) == mostActive {
			break
		}
		active = append(active, *cmp.Or(written[c.Reference.UID], &c.Reference))
	}
	return active
}
