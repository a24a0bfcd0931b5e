// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Plan is what a reconcile does about the probes of a node: data, to be looked at,
// compared and applied. The same Snapshot gives the same Plan.
type Plan struct {
	// Begin are the probes to remember from now on, in place of what is known of them. A run of them that is under way ends.
	Begin []Probe
	// Forget are the probes of which nothing has to be remembered. A run of them that is under way ends.
	Forget []ID
	// Start are the probes to run now, those that are due for the longest time first.
	Start []Start
	// Paced is how far starts are ahead of their pace afterwards.
	Paced time.Time
	// Status is the status to write, or nil if it stands already.
	Status *v1alpha1.NodePodProbeStatus
	// Changed are the states that Status says to have changed to Succeeded or Failed.
	Changed []Changed
	// Waiting tells of every probe that is due and not started, or is never run, what it waits for.
	Waiting []rollout.Wait
	// RequeueAfter is when to plan again; 0 for when something changes or a run ends.
	RequeueAfter time.Duration
}

// Start is one run of a probe.
type Start struct {
	ID
	// Handler is what is run: a command, a TCP connection or an HTTP request.
	Handler corev1.ProbeHandler
	// Timeout is how long it may take, InitialDelay how long the container must have run.
	Timeout, InitialDelay time.Duration
	// ContainerID and StartedAt are those of the container that is known; see Probe.
	ContainerID string
	StartedAt   time.Time
	// HideOutput says that what a command prints is not looked at.
	HideOutput bool
}

// Changed is a state that has changed.
type Changed struct {
	ID
	// State is the new state, and Message why, as the status has it.
	State   v1alpha1.ProbeState
	Message string
}

// What a probe waits for.
const (
	// ruleNeverRun: the probe is never run.
	ruleNeverRun rollout.Rule = "NeverRun"
	// ruleMostProbes: the namespace has as many probes on the node as the limit allows.
	ruleMostProbes rollout.Rule = "MostProbes"
	// rulePace: the node starts no more probes for now.
	rulePace rollout.Rule = "Pace"
	// ruleConcurrency: as many probes are under way as the limit allows.
	ruleConcurrency rollout.Rule = "Concurrency"
)

// NewPlan decides what to do about the probes of a node. It depends on nothing
// but the snapshot, which it does not change. For a nil one nothing is to be done.
func NewPlan(s *Snapshot) *Plan {
	if s == nil {
		return &Plan{}
	}
	p := newPlanner(s)
	p.planProbes()
	p.planRuns()
	p.planStatus()
	return p.plan
}

// requeueAt has another plan made at a time at the latest.
func (p *planner) requeueAt(at time.Time) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(at.Sub(p.Now), 1))
}

// wait notes what a probe waits for, and since when; zero if nothing tells.
func (p *planner) wait(id ID, since time.Time, reason *rollout.Reason) {
	p.plan.Waiting = append(p.plan.Waiting, rollout.Wait{Subject: rollout.Subject{Kind: "probe", Name: id.Probe},
		In: &rollout.Subject{Kind: "pod", Name: id.Namespace + "/" + id.Pod}, Reason: reason, Since: since})
}
