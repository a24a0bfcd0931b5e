// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
)

// progressInterval is the time between two writes of the status that tell
// nothing but progress: if there are many images, each of them changes it.
const progressInterval = 5 * time.Second

// planStatus counts the images by how far they are. (ILP-4)
func (p *planner) planStatus() {
	old := &p.Job.Status
	status := &v1alpha1.ImageListPullJobStatus{
		ObservedGeneration: p.Job.Generation, StartTime: cmp.Or(old.StartTime, ptr.To(p.now())), Desired: int32(len(p.images)),
	}
	for _, of := range p.images {
		of.count(status)
	}
	slices.SortFunc(status.FailedImageStatuses, func(a, b v1alpha1.FailedImageStatus) int { return strings.Compare(a.Name, b.Name) })
	if p.Job.Spec.CompletionPolicy.Type != v1alpha1.Never && status.Desired > 0 && status.Completed == status.Desired {
		status.CompletionTime = ptr.To(p.now())
		p.planExpiry(status.CompletionTime)
	}
	if sameStatus(old, status) && !apply.IsLate(old.ObservedGeneration, p.Job) {
		return
	}
	urgent := old.StartTime == nil || status.CompletionTime != nil
	if due := p.Reported.Add(progressInterval).Sub(p.Now); !urgent && !p.Reported.IsZero() && due > 0 {
		p.requeueAfter(due)
		return
	}
	p.plan.Status = status
}

// count counts an image. One whose ImagePullJob has not begun, or has not seen its present spec, counts nowhere yet.
func (i *image) count(status *v1alpha1.ImageListPullJobStatus) {
	fails := func(job, message string) {
		status.FailedImageStatuses = append(status.FailedImageStatuses, v1alpha1.FailedImageStatus{ImagePullJob: job, Name: i.name, Message: message})
	}
	if i.job == nil {
		if i.waits != "" {
			fails("", i.waits)
		}
		return
	}
	s := &i.job.Status
	if s.StartTime == nil || apply.IsLate(s.ObservedGeneration, i.job) {
		return
	}
	if s.Active > 0 {
		status.Active++
	}
	if s.Desired == s.Succeeded+s.Failed {
		status.Completed++
	}
	if s.Desired == s.Succeeded {
		status.Succeeded++
	}
	if s.Failed > 0 {
		fails(i.job.Name, fmt.Sprintf("%d of %d nodes have given the image up: ImagePullJob %s names them", s.Failed, s.Desired, i.job.Name))
	}
}

// sameStatus tells whether a status need not be written, but for the generation.
func sameStatus(a, b *v1alpha1.ImageListPullJobStatus) bool {
	b = b.DeepCopy()
	b.ObservedGeneration = a.ObservedGeneration
	return equality.Semantic.DeepEqual(a, b)
}

// planDeletion deletes a job that has been over for long enough. (ILP-5)
func (p *planner) planDeletion() {
	if at, limited := p.expiry(p.Job.Status.CompletionTime); limited {
		if p.plan.DeleteJob = !at.After(p.Now); !p.plan.DeleteJob {
			p.requeueAfter(at.Sub(p.Now))
		}
	}
}

// planExpiry looks again when a job that is over now is to be deleted.
func (p *planner) planExpiry(finished *metav1.Time) {
	if at, limited := p.expiry(finished); limited {
		p.requeueAfter(at.Sub(p.Now))
	}
}

// expiry is when a job that finished at that time is deleted; false if it is kept.
func (p *planner) expiry(finished *metav1.Time) (time.Time, bool) {
	ttl := p.Job.Spec.CompletionPolicy.TTLSecondsAfterFinished
	if ttl == nil {
		return time.Time{}, false
	}
	return finished.Add(time.Duration(*ttl) * time.Second), true
}

// planObserved says of a job that is over, and is kept, which generation was seen last.
func (p *planner) planObserved() {
	if !p.plan.DeleteJob && apply.IsLate(p.Job.Status.ObservedGeneration, p.Job) {
		p.plan.Status = p.Job.Status.DeepCopy()
		p.plan.Status.ObservedGeneration = p.Job.Generation
	}
}
