// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/images"
)

// Plan is what to do about an ImagePullJob now: data, to be looked at, compared
// and applied. The same Snapshot gives the same Plan.
type Plan struct {
	// Image and Tag are what the NodeImages call the job's image. The tag is a
	// digest if the job names one.
	Image, Tag string
	// Parallelism is how many nodes may pull at the same time.
	Parallelism int32

	// Nodes are those that the image is for, in the order in which they get
	// their tasks, as they are now.
	Nodes []Node
	// Assign lists the nodes that get the task now, in order.
	Assign []Assignment
	// Waiting lists the nodes that should have the task and do not, each with
	// the reason.
	Waiting []rollout.Wait

	// Held is what keeps the job from its end. (IMG-1.9)
	Held []rollout.Wait

	// Copy lists the pull secrets of the job, by name, at which to look, and of which
	// to make the copies as they should be.
	Copy []string
	// Release are the copies that the job does not need any more. Status is written
	// before.
	Release []*corev1.Secret

	// HeldTexts says in words what keeps the job from its end, or pull secrets from nodes, for an event. The message of
	// the status says it, too.
	HeldTexts []string

	// RemoveFinalizer takes away v1alpha1.ImagePullJobFinalizer, with which the API server would not let the job go. (IMG-1.15)
	RemoveFinalizer bool

	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.ImagePullJobStatus
	// Delete says that the job is over for long enough to be deleted.
	Delete bool

	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
	// Problems are errors in the spec, each with what to do about it. A job
	// that has one does not go on.
	Problems []rollout.Problem
}

// State says how far a node is with a job.
type State string

const (
	// NotSynced is the state of a node that has not got the task.
	NotSynced State = "NotSynced"
	// Active is the state of a node that has the task and has not finished it.
	Active State = "Active"
	// Succeeded is the state of a node that has the image.
	Succeeded State = "Succeeded"
	// Failed is the state of a node that has given up.
	Failed State = "Failed"
)

// Node is a node that a job is about.
type Node struct {
	// Name is that of the node.
	Name string
	// State is how far the node is with the job.
	State State
}

// Assignment is the change that gives a node its task.
type Assignment struct {
	// NodeImage is the node's, as it was observed.
	NodeImage *v1alpha1.NodeImage
	// Name is the key in spec.images, and Image what will stand there.
	Name  string
	Image v1alpha1.ImageSpec
	// Renew says that the node works on the task already, and gets another policy for it alone.
	Renew bool
}

// Patch returns the merge patch of the NodeImage. It is refused if the
// NodeImage has changed since it was observed.
func (h *Assignment) Patch() ([]byte, error) {
	type part struct {
		Spec v1alpha1.NodeImageSpec `json:"spec"`
	}
	var before, after part
	if image, found := h.NodeImage.Spec.Images[h.Name]; found {
		before.Spec.Images = map[string]v1alpha1.ImageSpec{h.Name: image}
	}
	after.Spec.Images = map[string]v1alpha1.ImageSpec{h.Name: h.Image}
	return images.Patch(h.NodeImage, before, after)
}

// What holds back a task, beside rollout.RulePaused.
const (
	// ruleParallelism: as many nodes pull as spec.parallelism allows.
	ruleParallelism rollout.Rule = "Parallelism"
	// ruleNoNodeImage: the node has no NodeImage. The job does not wait for it.
	ruleNoNodeImage rollout.Rule = "NoNodeImage"
	// rulePullSecrets: it is not known yet which pull secrets nodes can have.
	rulePullSecrets rollout.Rule = "PullSecrets"
	// ruleTooManyImages: the node has tasks for as many images as it can have.
	ruleTooManyImages rollout.Rule = "TooManyImages"
	// ruleNodeImageFull: the tasks of the job's namespace take as much of the node's NodeImage as they may.
	ruleNodeImageFull rollout.Rule = "NodeImageFull"
)

// NewPlan decides what to do about an ImagePullJob. It never fails: what is
// wrong with the job is listed in Plan.Problems. For a nil Snapshot nothing is to be done.
func NewPlan(s *Snapshot) *Plan {
	if s == nil {
		return &Plan{}
	}
	p := &planner{Snapshot: s, plan: &Plan{}, secretsKnown: true}
	switch {
	case s.Job == nil || s.Job.DeletionTimestamp != nil:
		p.plan.Release = s.Copies
		p.plan.RemoveFinalizer = s.Job != nil && slices.Contains(s.Job.Finalizers, v1alpha1.ImagePullJobFinalizer)
	case s.Job.Status.CompletionTime != nil:
		p.plan.Release = s.Copies
		p.plan.RemoveFinalizer = slices.Contains(s.Job.Finalizers, v1alpha1.ImagePullJobFinalizer)
		p.planDeletion()
		p.planObserved()
	default:
		p.planRunning()
	}
	return p.plan
}

// planRunning decides about a job that is not over.
func (p *planner) planRunning() {
	if p.ReferToSourceSecrets {
		p.plan.Release = p.Copies
	} else {
		p.secretsKnown = p.planSecrets()
	}
	p.read()
	if len(p.plan.Problems) == 0 {
		p.findNodes()
	}
	if len(p.plan.Problems) == 0 {
		p.planTasks()
	}
	p.planStatus()
	if status := p.plan.Status; status != nil && status.CompletionTime != nil {
		p.plan.Copy, p.plan.Release = nil, p.Copies
	}
}

// problem reports what is wrong with the spec.
func (p *planner) problem(err error) {
	p.plan.Problems = append(p.plan.Problems, rollout.Problem{Err: err})
}

// requeueAfter asks for another reconcile after d at the latest.
func (p *planner) requeueAfter(d time.Duration) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(d, time.Millisecond))
}

// wait records why a node does not get the task.
func (p *planner) wait(node string, reason *rollout.Reason) {
	p.plan.Waiting = append(p.plan.Waiting, rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: node}, Reason: reason})
}
