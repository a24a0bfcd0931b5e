// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Plan is what to do about an EphemeralJob now: data, to be looked at, compared and
// applied. The same Snapshot gives the same Plan. The zero Plan does nothing.
type Plan struct {
	// AddFinalizer and RemoveFinalizer add and remove v1alpha1.EphemeralJobFinalizer.
	AddFinalizer, RemoveFinalizer bool

	// Targets are the pods that the job is for, in the order in which they get their
	// containers. Nil for a job that has finished.
	Targets []Target
	// Skipped are the pods that the selector selects and the job leaves out, by age.
	Skipped []rollout.Wait
	// Inject lists the pods that get their containers now, in order, and Next those that take
	// the places of pods that the API server refuses. Containers are injected into each.
	Inject, Next []*corev1.Pod
	Containers   []corev1.EphemeralContainer
	// TryFirst says that nothing has been injected yet: the API server is asked by a dry run
	// about the first pod before any is touched.
	TryFirst bool
	// Waiting lists the targets that should get their containers and do not, each with the reason.
	Waiting []rollout.Wait

	// Held is what keeps the job from its end. (EJ-26)
	Held []rollout.Wait

	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.EphemeralJobStatus
	// DeleteJob says that the job has been finished for long enough to be deleted.
	DeleteJob bool
	// Events are to be recorded once the status is written.
	Events []Event

	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
	// Problems are errors in the spec, each with what to do about it. A job that has
	// one injects nothing.
	Problems []rollout.Problem
}

// State says how far a pod is with a job.
type State string

const (
	// NotInjected is the state of a pod that has none of the containers.
	NotInjected State = "NotInjected"
	// Injected is the state of a pod of which the kubelet has not reported on a container.
	Injected State = "Injected"
	// Waiting is the state of a pod in which a container waits to be started, and none runs.
	Waiting State = "Waiting"
	// Running is the state of a pod in which a container runs.
	Running State = "Running"
	// Succeeded is the state of a pod in which all containers have ended with exit code 0.
	Succeeded State = "Succeeded"
	// Failed is the state of a pod in which a container has failed.
	Failed State = "Failed"
)

// Target is a pod that a job is for.
type Target struct {
	// Pod is the pod, shared with the caches, and State how far it is with the job.
	Pod   *corev1.Pod
	State State
}

// What holds back an injection, beside rollout.RulePaused and rollout.RuleRefused.
const (
	// ruleParallelism: the containers of as many pods are under way as spec.parallelism allows.
	ruleParallelism rollout.Rule = "Parallelism"
	// ruleNotStarted: the pod has no node, or its containers do not start. Such pods hold no place of spec.parallelism.
	ruleNotStarted rollout.Rule = "NotStarted"
	// ruleNameTaken: the pod has another ephemeral container of the name, or so many that it gets no more.
	ruleNameTaken = rollout.RuleNameTaken
	// ruleProblem: the spec has an error.
	ruleProblem rollout.Rule = "Problem"
)

// Event is to be recorded about the job.
type Event struct {
	// Type is Normal or Warning.
	Type string
	// Reason is the word for machines, and Message the words for users.
	Reason, Message string
}

// The reasons of events.
const (
	// eventCreateFailed: the API server refuses to inject the containers into a pod.
	eventCreateFailed = "CreateFailed"
	// eventSucceeded, eventFailed and eventDeadlineExceeded: the job has finished.
	eventSucceeded        = "JobSucceeded"
	eventFailed           = "JobFailed"
	eventDeadlineExceeded = "DeadlineExceeded"
	// eventInvalidSpec: the spec has an error.
	eventInvalidSpec = "InvalidSpec"
)

// NewPlan decides what to do about an EphemeralJob. It never fails: what is wrong
// with the job is listed in Plan.Problems.
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Job == nil {
		return &Plan{Problems: rollout.ProblemsOf(errors.New("the Snapshot has no Job; give it the EphemeralJob to plan for"))}
	}
	p := &planner{Snapshot: s, plan: &Plan{}, status: *s.Job.Status.DeepCopy()}
	if s.Job.DeletionTimestamp != nil { // (EJ-20)
		p.plan.RemoveFinalizer = hasFinalizer(s.Job)
		return p.plan
	}
	p.plan.AddFinalizer = !hasFinalizer(s.Job) // (EJ-2)
	p.status.ObservedGeneration = s.Job.Generation
	if s.Job.Status.CompletionTime != nil {
		p.plan.DeleteJob = p.expire(s.Job.Status.CompletionTime)
		p.plan.AddFinalizer = p.plan.AddFinalizer && !p.plan.DeleteJob
	} else {
		p.planRunning()
	}
	p.finishStatus()
	return p.plan
}
