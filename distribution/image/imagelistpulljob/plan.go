// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"time"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
)

// Plan is what to do about an ImageListPullJob now: data, to be looked at, compared
// and applied. The same Snapshot gives the same Plan.
type Plan struct {
	// Delete lists the ImagePullJobs that the job does not want, or not in this form. Create lists those that it lacks, in
	// the order of the images.
	Delete, Create []*v1alpha1.ImagePullJob
	// Keep lists the ImagePullJobs that would be deleted by themselves when they are over, and are to stay until the job goes. (ILP-5)
	Keep []*v1alpha1.ImagePullJob

	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.ImageListPullJobStatus
	// DeleteJob says that the job is over for long enough to be deleted.
	DeleteJob bool

	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
}

// NewPlan decides what to do about an ImageListPullJob. It never fails. For a nil Snapshot nothing is to be done.
func NewPlan(s *Snapshot) *Plan {
	plan := &Plan{}
	if s == nil || s.Job.DeletionTimestamp != nil {
		return plan // the garbage collector deletes the ImagePullJobs
	}
	p := &planner{Snapshot: s, plan: plan}
	if s.Job.Status.CompletionTime != nil {
		p.planDeletion()
		p.planObserved()
		return plan
	}
	p.planJobs()
	p.planStatus()
	return plan
}

// planner makes one plan.
type planner struct {
	*Snapshot
	plan *Plan
	// images are what the job is about, one by one.
	images []image
}

// image is an image of the job.
type image struct {
	name string
	// job is the image's ImagePullJob of the present spec; nil if there is none yet.
	job *v1alpha1.ImagePullJob
	// waits says what keeps it from being created; empty if nothing does.
	waits string
}

// requeueAfter asks for another reconcile after d at the latest.
func (p *planner) requeueAfter(d time.Duration) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(d, time.Millisecond))
}
