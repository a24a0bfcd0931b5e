// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
)

// progressInterval is the time between two writes of the status that tell
// nothing but progress: if many nodes pull, each of them changes it.
const progressInterval = 5 * time.Second

// planStatus computes the status as it will be once the tasks are assigned.
// (IMG-1.5)
func (p *planner) planStatus() {
	old := &p.Job.Status
	p.plan.HeldTexts = slices.Concat(p.heldUp, p.leftOut)
	if old.StartTime == nil && !p.secretsKnown && len(p.heldUp) == 0 {
		return // in a moment there is more to say
	}
	status := &v1alpha1.ImagePullJobStatus{ObservedGeneration: p.Job.Generation, StartTime: cmp.Or(old.StartTime, ptr.To(p.now()))}
	p.count(status)
	if err := rollout.ErrorOf(p.plan.Problems); err != nil {
		status.Message = err.Error()
	} else {
		p.conclude(status)
	}
	if sameStatus(old, status) && !apply.IsLate(old.ObservedGeneration, p.Job) {
		return
	}
	urgent := old.StartTime == nil || status.CompletionTime != nil || len(p.plan.Problems) > 0
	if due := p.Reported.Add(progressInterval).Sub(p.Now); !urgent && !p.Reported.IsZero() && due > 0 {
		p.requeueAfter(due)
		return
	}
	p.plan.Status = status
}

// count counts the nodes by how far they are.
func (p *planner) count(status *v1alpha1.ImagePullJobStatus) {
	status.Desired = int32(len(p.nodes))
	for _, n := range p.nodes {
		switch n.state {
		case Active:
			status.Active++
		case Succeeded:
			status.Succeeded++
		case Failed:
			status.Failed++
			status.FailedNodes = append(status.FailedNodes, n.Name)
		}
	}
	status.FailedNodes = firstOf(status.FailedNodes)
}

// mostFailedNodes is how many nodes a status names, which the API server stores up to 1.5 MB: of names of 63 bytes 320 KB. (IMG-1.5)
const mostFailedNodes = 5000

// firstOf sorts names, and keeps as many as a status names.
func firstOf(names []string) []string {
	slices.Sort(names)
	return names[:min(len(names), mostFailedNodes)]
}

// noNodes is said of a job that is complete since it selects no node. (IMG-1.5)
const noNodes = ": no node is selected"

// conclude says whether the job is over, and in words how far it is.
func (p *planner) conclude(status *v1alpha1.ImagePullJobStatus) {
	done := status.Succeeded + status.Failed
	switch {
	case p.always() && done == status.Desired:
		status.CompletionTime = ptr.To(p.now())
		status.Message = v1alpha1.ImagePullJobMessageCompleted
		if status.Desired == 0 {
			status.Message += noNodes
		}
	case p.overdue():
		p.giveUp(status)
	case status.Desired == 0:
		status.Message = v1alpha1.ImagePullJobMessageNoProgress
	default:
		status.Message = fmt.Sprintf(v1alpha1.ImagePullJobMessageProgressFormat, 100*float64(done)/float64(status.Desired))
	}
	if status.CompletionTime == nil {
		status.Message = p.withHeldUp(p.withLeftOut(status.Message))
	}
	if deadline, limited := p.deadline(); limited && status.CompletionTime == nil {
		p.requeueAfter(deadline.Sub(p.Now))
	}
	if at, limited := p.expiry(status.CompletionTime); limited {
		p.requeueAfter(at.Sub(p.Now))
	}
}

// giveUp ends the job at its deadline: what is not finished has failed.
func (p *planner) giveUp(status *v1alpha1.ImagePullJobStatus) {
	for _, n := range p.nodes {
		if n.state == Active || n.state == NotSynced {
			status.FailedNodes = append(status.FailedNodes, n.Name)
		}
	}
	status.FailedNodes = firstOf(status.FailedNodes)
	status.Active, status.Failed = 0, status.Desired-status.Succeeded
	status.CompletionTime = ptr.To(p.now())
	status.Message = v1alpha1.ImagePullJobMessageDeadline
}

// maxDeadline is more than a century, in seconds: as good as no limit, and far
// from what a time.Duration cannot hold.
const maxDeadline = 1 << 32

// deadline is when the job ends by its spec; false if it has no limit. A job
// that begins now is given all of its time.
func (p *planner) deadline() (time.Time, bool) {
	seconds := p.Job.Spec.CompletionPolicy.ActiveDeadlineSeconds
	if !p.always() || seconds == nil || *seconds > maxDeadline {
		return time.Time{}, false
	}
	start := p.Job.Status.StartTime
	if start == nil {
		start = ptr.To(p.now())
	}
	return start.Add(time.Duration(*seconds) * time.Second), true
}

func (p *planner) overdue() bool {
	deadline, limited := p.deadline()
	return limited && !deadline.After(p.Now)
}

// planDeletion deletes a job that has been over for long enough.
func (p *planner) planDeletion() {
	if at, limited := p.expiry(p.Job.Status.CompletionTime); limited {
		if p.plan.Delete = !at.After(p.Now); !p.plan.Delete {
			p.requeueAfter(at.Sub(p.Now))
		}
	}
}

// expiry is when a job that finished at that time is deleted; false if it is
// kept, or has not finished.
func (p *planner) expiry(finished *metav1.Time) (time.Time, bool) {
	ttl := p.Job.Spec.CompletionPolicy.TTLSecondsAfterFinished
	if finished == nil || ttl == nil {
		return time.Time{}, false
	}
	return finished.Add(time.Duration(*ttl) * time.Second), true
}

// planObserved says of a job that is over, and is kept, which generation was seen last. (IMG-1.8)
func (p *planner) planObserved() {
	if !p.plan.Delete && apply.IsLate(p.Job.Status.ObservedGeneration, p.Job) {
		p.plan.Status = p.Job.Status.DeepCopy()
		p.plan.Status.ObservedGeneration = p.Job.Generation
	}
}

// sameStatus tells whether a status need not be written, but for the generation.
func sameStatus(a, b *v1alpha1.ImagePullJobStatus) bool {
	return a.StartTime.Equal(b.StartTime) && a.CompletionTime.Equal(b.CompletionTime) &&
		a.Desired == b.Desired && a.Active == b.Active && a.Succeeded == b.Succeeded && a.Failed == b.Failed &&
		a.Message == b.Message && slices.Equal(a.FailedNodes, b.FailedNodes)
}
