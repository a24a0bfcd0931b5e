// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Plan is what to do about a BroadcastJob now: data, to be looked at, compared and
// applied. The same Snapshot gives the same Plan. The zero Plan does nothing.
type Plan struct {
	// Parallelism is how many pods may be active at the same time.
	Parallelism int32

	// Nodes are those that the job is for, and those that its pods are on, as they are
	// now. They come by name, and after them those that are gone. Nodes that do not fit and have
	// neither pod nor result are left out. Nil for a job that has finished.
	Nodes []Node
	// Delete lists the pods to delete, by name.
	Delete []Deletion
	// Create lists the pods to create, by the name of their node. They share what
	// they have in common: do not change it.
	Create []rollout.PodCreation
	// Waiting lists the nodes that should have a pod and have none, each with the reason. Pods that are still to be deleted are in it, too. (BJ-32)
	Waiting []rollout.Wait
	// Held lists what keeps the job from its end: pods that do not start, by node, and what keeps others from being created. (BJ-31)
	Held []rollout.Wait

	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.BroadcastJobStatus
	// StatusFirst says that nothing is done if the status cannot be written.
	StatusFirst bool
	// DeleteJob says that the job has been finished for long enough to be deleted.
	DeleteJob bool
	// Events are to be recorded once the status is written.
	Events []Event

	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
	// Problems are errors in the spec, each with what to do about it. Each of them
	// is among the Events too.
	Problems []rollout.Problem
}

// State says how far a node is with a job.
type State string

const (
	// Waiting is the state of a node that fits and has no pod.
	Waiting State = "Waiting"
	// Active is the state of a node whose pod is neither finished nor being deleted.
	Active State = "Active"
	// Leaving is the state of a node whose pod is being deleted without a result.
	Leaving State = "Leaving"
	// Succeeded is the state of a node whose pod succeeded.
	Succeeded State = "Succeeded"
	// Failed is the state of a node whose pod failed.
	Failed State = "Failed"
)

// Node is a node that a job is about.
type Node struct {
	// Name is that of the node, and State how far it is with the job.
	Name  string
	State State
	// Misfit says why the node does not fit its pod, empty if it does. The job
	// is not for such a node, unless that has a result.
	Misfit string
}

// Deletion is a pod to be deleted.
type Deletion struct {
	// Pod is the pod as it was observed, shared with the caches.
	Pod *corev1.Pod
	// Reason is why: the job has failed, or the node does not fit.
	Reason string
	// Active says that the planned status counts on the deletion: if that fails, the
	// pod is still active.
	Active bool
	// Few says that the pod is one of those that go a few at a time. (BJ-32)
	Few bool
	// Again says that the template fits the node: the next pod may be as unfit, and waits.
	Again bool
}

// What holds back a pod, beside rollout.RulePaused.
const (
	// ruleParallelism: as many pods are active as spec.parallelism allows.
	ruleParallelism rollout.Rule = "Parallelism"
	// ruleFailedPod: a failed pod exists, and the failure policy is Pause.
	ruleFailedPod rollout.Rule = "FailedPod"
	// ruleBeingDeleted: the job is being deleted.
	ruleBeingDeleted rollout.Rule = "BeingDeleted"
	// ruleAstray: a pod of the job is on no node, or beside another one, and may be meant for
	// the node.
	ruleAstray rollout.Rule = "PodWithoutNode"
	// ruleProblem: the spec has an error.
	ruleProblem rollout.Rule = "Problem"
)

// Event is to be recorded about the job.
type Event struct {
	// Type is Normal or Warning.
	Type string
	// Reason is the word for machines, and Message the words for users.
	Reason, Message string
	// Lasting says that the plan has the event for as long as what it tells of lasts.
	// It is recorded when that begins.
	Lasting bool
}

// The reasons of the events that a plan has. Those of writes are SuccessfulCreate
// and its like.
const (
	// eventPaused: a pod has failed, and the failure policy is Pause.
	eventPaused = "Paused"
	// eventContinue: the job is no longer paused.
	eventContinue = "Continue"
	// eventFailedPod: a pod has failed, and the failure policy is FailFast.
	eventFailedPod = "failed pod is found"
	// eventDeadlineExceeded: the job ran longer than it may.
	eventDeadlineExceeded = "DeadlineExceeded"
	// eventJobComplete: the job ran on every desired node.
	eventJobComplete = "JobComplete"
	// eventTooManyActivePods: more pods are active than the parallelism allows now.
	eventTooManyActivePods = "TooManyActivePods"
	// eventDuplicatePod: a node has more than one pod of the job.
	eventDuplicatePod = "DuplicatePodCreatedOnSameNode"
	// eventPodWithoutNode: a pod is on no node, and names none.
	eventPodWithoutNode = "PodWithoutNode"
	// eventPodTerminating: the job waits for a pod that should have terminated long ago.
	eventPodTerminating = "PodTerminating"
	// eventPodNotTerminated: such a pod counts as failed now.
	eventPodNotTerminated = "PodNotTerminated"
	// eventInvalidSpec: the spec has an error, and the job does not go on.
	eventInvalidSpec = "InvalidSpec"
)

// NewPlan decides what to do about a BroadcastJob. It never fails: what is wrong
// with the job is listed in Plan.Problems.
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Job == nil {
		return &Plan{Problems: rollout.ProblemsOf(errors.New("the Snapshot has no Job; give it the BroadcastJob to plan for"))}
	}
	p := &planner{Snapshot: s, plan: &Plan{}, status: s.Job.Status}
	p.status.ObservedGeneration = s.Job.Generation
	switch {
	case s.over():
		p.planOver()
	case s.Job.Status.Phase == v1alpha1.PhaseFailed:
		p.observe()
		p.deleteActive(true)
		p.count()
	default:
		p.observe()
		p.planRunning()
	}
	p.setHeldUp()
	p.finishStatus()
	return p.plan
}
