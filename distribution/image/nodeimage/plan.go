// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/images"
)

// Plan is what to do about the NodeImage of a node now: data, to be looked at,
// compared and applied. The same Snapshot gives the same Plan.
type Plan struct {
	// Create is the NodeImage to create, or nil.
	Create *v1alpha1.NodeImage
	// Delete says that the NodeImage is to be deleted, since its node is gone.
	Delete bool
	// Waiting says why a node has no NodeImage, and will not get one now: one wait, of the node. It is empty otherwise.
	Waiting []rollout.Wait

	// Change is what to change about labels and tasks, nil if they stand.
	Change *Change
	// Dropped lists the tasks that Change takes away, by image and tag, each
	// with the reason.
	Dropped []Dropped
	// Gone lists the jobs that tasks name as owners and that no longer exist.
	// Change takes them away. Caches may lag: who applies the plan should
	// make sure.
	Gone []corev1.ObjectReference

	// Status is the status to write, or nil when the present one stands. If agents
	// pull, it is written only for tasks that have Failed; the rest is theirs.
	Status *v1alpha1.NodeImageStatus
	// Failed lists the tasks that have taken too long, by image and tag.
	Failed []Failed

	// Pulls says what to do about pods that have images pulled. Nothing, if agents
	// pull them.
	Pulls Pulls

	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
}

// Change is the wanted state of what the controller manages of a NodeImage.
type Change struct {
	// Labels are all labels that the NodeImage is to have.
	Labels map[string]string
	// Spec is the whole spec that it is to have.
	Spec v1alpha1.NodeImageSpec
}

// Patch returns the merge patch that makes the change. It is refused if the
// NodeImage has changed since it was observed.
func (c *Change) Patch(observed *v1alpha1.NodeImage) ([]byte, error) {
	type metadata struct {
		Labels map[string]string `json:"labels,omitempty"`
	}
	type part struct {
		Metadata metadata               `json:"metadata"`
		Spec     v1alpha1.NodeImageSpec `json:"spec"`
	}
	return images.Patch(observed,
		part{metadata{observed.Labels}, observed.Spec}, part{metadata{c.Labels}, c.Spec})
}

// Dropped is a task that is taken away from a node.
type Dropped struct {
	// Image and Tag name the task; Tag may be a digest.
	Image, Tag string
	// Reason says in words why.
	Reason string
}

// Failed is a task that has taken too long.
type Failed struct {
	// Image and Tag name the task; Tag may be a digest.
	Image, Tag string
	// Message is what the status says about it.
	Message string
	// Owners are the jobs that wanted it, and have not been told why by Pulls.
	Owners []corev1.ObjectReference
}

// Pulls is what to do about pods that have images pulled, after the status is written.
type Pulls struct {
	// Delete are the pods that are not needed any more, and Create those to create
	// afterwards.
	Delete, Create []*corev1.Pod
	// Succeeded lists the tasks that Status says to have succeeded.
	Succeeded []Succeeded
	// Unpulled lists the jobs with whose credentials an image of a task that is finished
	// could not be pulled.
	Unpulled []Unpulled
	// Waiting lists the images that should be pulled for a job, in which they are, and for which no pod is there.
	Waiting []rollout.Wait
}

// Succeeded is a task whose image the node has.
type Succeeded struct {
	// Image and Tag name the task; Tag may be a digest.
	Image, Tag string
	// Took is the time from the begin of the task to its end, in whole seconds.
	Took time.Duration
}

// Unpulled is a job for which an image could not be pulled.
type Unpulled struct {
	// Image and Tag name the task; Tag may be a digest. Job is the ImagePullJob.
	Image, Tag string
	Job        corev1.ObjectReference
	// Message says why.
	Message string
}

// What a NodeImage or a pull waits for.
const (
	// ruleNodeLeaving: the node is being deleted.
	ruleNodeLeaving rollout.Rule = "NodeBeingDeleted"
	// ruleVirtualNode: the node is a virtual kubelet.
	ruleVirtualNode rollout.Rule = "VirtualNode"
	// ruleNodeNotReady: the node is not ready.
	ruleNodeNotReady rollout.Rule = "NodeNotReady"
	// ruleCreationDelay: the node has been ready for less than the limit, in seconds.
	ruleCreationDelay rollout.Rule = "CreationDelay"
	// ruleBackOff: the next attempt, of which there are as many as the limit says, comes after a pause.
	ruleBackOff rollout.Rule = "BackOff"
)

// NewPlan decides what to do about the NodeImage of a node: nothing for a nil Snapshot.
func NewPlan(s *Snapshot) *Plan {
	if s == nil {
		return &Plan{}
	}
	p := &planner{Snapshot: s, plan: &Plan{}, pods: ownPods(s.Pods)}
	switch n := s.NodeImage; {
	case n == nil:
		p.plan.Pulls.Delete = undeleted(p.pods)
		p.planCreation()
	case n.DeletionTimestamp != nil:
		p.plan.Pulls.Delete = undeleted(p.pods)
	case p.abandoned():
		p.plan.Delete, p.plan.Pulls.Delete = true, undeleted(p.pods)
	default:
		p.planTasks()
		p.planLabels()
		p.planStatus()
	}
	return p.plan
}

// requeueAt asks for another reconcile at that time, or soon if it is over.
func (p *planner) requeueAt(t time.Time) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(t.Sub(p.Now), time.Millisecond))
}
