// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"time"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
)

// Plan is what a reconcile does about one pod.
type Plan struct {
	// Report is the new value of the annotation; nil if it stands already, or
	// if there is nothing to report.
	Report *inplacev1alpha1.RuntimeContainersMeta
	// Read names the containers whose environment takes part in the report and
	// is not in the snapshot, by the runtime's ID. The plan of a snapshot with
	// them has the whole report.
	Read []string
	// Restarts are the containers to stop now, so that the kubelet starts them
	// with the environment of the new labels and annotations.
	Restarts []Restart
	// Outdated names all containers, by ID, that have to be restarted, now or later.
	Outdated []string
	// Waiting tells of every container that is not reported in full, or not
	// restarted yet, what it waits for.
	Waiting []Waiting
	// RequeueAfter is when to plan again; 0 for when something changes.
	RequeueAfter time.Duration
}

// Restart is a container to stop.
type Restart struct {
	// Container is the name of the container, and ID what the runtime calls it.
	Container, ID string
}

// Waiting is a container for which something is left to do, and the Reason in
// words. Container is empty if the reason is about the whole pod.
type Waiting struct{ Container, Reason string }

// NewPlan decides what to do about a pod. It depends on nothing but the
// snapshot, which it does not change. For a nil one, or one without a Pod, nothing is to be done.
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Pod == nil {
		return &Plan{}
	}
	p := &planner{Snapshot: s}
	p.plan()
	return &p.Plan
}

// wait notes what a container waits for.
func (p *Plan) wait(container, reason string) {
	p.Waiting = append(p.Waiting, Waiting{container, reason})
}

// lookAgain has another plan made after a time at the latest.
func (p *Plan) lookAgain(after time.Duration) {
	p.RequeueAfter = apply.Soonest(p.RequeueAfter, max(after, 1))
}
