// SPDX-License-Identifier: Apache-2.0

package image

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
)

// Plan is what a reconcile does about the images of a node: data, to be looked at,
// compared and applied. The same Snapshot gives the same Plan.
type Plan struct {
	// ListImages says that tasks may begin, and that it is not known which
	// images the node has. The plan of a snapshot with them is complete.
	ListImages bool
	// Start are the attempts to start now, those of the oldest tasks first.
	Start []Start
	// Adopt are the attempts under way that go on for another version of their task.
	Adopt []Adopt
	// Cancel are the attempts under way to end, which no task waits for any more.
	Cancel []Cancel
	// Forget are the pulls of which nothing has to be remembered.
	Forget []Task
	// Finished are the tasks that Status says to have come to their end.
	Finished []Finished
	// Status is the status to write, or nil if it stands already.
	Status *v1alpha1.NodeImageStatus
	// Waiting tells of every task that is not finished, and of which no attempt
	// is under way, what it waits for.
	Waiting []rollout.Wait
	// RequeueAfter is when to plan again; 0 for when something changes or an
	// attempt ends.
	RequeueAfter time.Duration
}

// Start is an attempt to pull an image.
type Start struct {
	Task
	// Version is that of the task in the NodeImage, for which the image is pulled.
	Version int64
	// Reference is the image as the runtime is asked for it: nginx:1.27, or
	// nginx@sha256:….
	Reference string
	// Timeout is how long the attempt may take.
	Timeout time.Duration
	// Secrets refer to credentials, nil for none. They are those of the image, for
	// all its tasks. Only the ones of Namespaces may be used, the namespaces
	// of those who own the task. If Namespaces is nil the task has no owner, and all may.
	Secrets    []v1alpha1.ReferenceObject
	Namespaces []string
	// Sandbox is handed to the runtime; nil for nothing.
	Sandbox *v1alpha1.SandboxConfig
}

// Adopt has the attempt that is under way for a task serve a version of it.
type Adopt struct {
	Task
	// Version is the one that the attempt serves from now on.
	Version int64
}

// Cancel is an attempt to end, with the reason in words.
type Cancel struct {
	Task
	// Reason says why, in words.
	Reason string
}

// Finished is a task that has come to its end.
type Finished struct {
	Task
	// Failed says how it ended, and Message why it failed. Err is why the last
	// attempt failed, nil if it is not that which ended the task. messageFor
	// says of it what is for the eyes of one namespace.
	Failed  bool
	Message string
	Err     error
	// Took is the time from the begin of the task to its end, in whole seconds.
	Took time.Duration
	// Owners are those who want the task.
	Owners []corev1.ObjectReference
}

// What a task waits for.
const (
	// ruleBackOff: the next attempt, of which there are as many as the limit says, comes after a pause.
	ruleBackOff rollout.Rule = "BackOff"
	// ruleConcurrency: as many pulls are under way as the limit allows.
	ruleConcurrency rollout.Rule = "Concurrency"
)

// NewPlan decides what to do about the images of a node. It depends on nothing
// but the snapshot, which it does not change. For a nil one nothing is to be done.
func NewPlan(s *Snapshot) *Plan {
	if s == nil {
		return &Plan{}
	}
	p := &planner{Snapshot: s, pulls: map[Task]*Pull{}, plan: &Plan{}}
	for i := range s.Pulls {
		p.pulls[s.Pulls[i].Task] = &s.Pulls[i]
	}
	p.planTasks()
	p.planPulls()
	p.planStatus()
	return p.plan
}

// requeueAt has another plan made at a time at the latest.
func (p *planner) requeueAt(at time.Time) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(at.Sub(p.Now), 1))
}

// wait notes what a task waits for, and since when; zero if nothing tells.
func (p *planner) wait(task Task, since time.Time, reason *rollout.Reason) {
	p.plan.Waiting = append(p.plan.Waiting, rollout.Wait{Subject: rollout.Subject{Kind: "image", Name: task.name()}, Reason: reason, Since: since})
}
