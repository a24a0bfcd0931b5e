// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"time"

	"github.com/podwright/podwright/inplace/rollout"
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
	Waiting []rollout.Wait
	// RequeueAfter is when to plan again; 0 for when something changes.
	RequeueAfter time.Duration
}

// Restart is a container to stop.
type Restart struct {
	// Container is the name of the container, and ID what the runtime calls it.
	Container, ID string
}

// What the report or the restart of a container waits for.
const (
	// rulePod: there is nothing to report of the pod, now or at all.
	rulePod rollout.Rule = "Pod"
	// ruleRuntime: the pod runs in another container runtime.
	ruleRuntime rollout.Rule = "Runtime"
	// ruleNotThere: the spec of the pod or the runtime has no such container.
	ruleNotThere rollout.Rule = "NotThere"
	// ruleUnreadable: what the runtime or the pod says of the container is not readable.
	ruleUnreadable rollout.Rule = "Unreadable"
	// ruleEnvironment: the environment of the container has to be read. The number is that of failures.
	ruleEnvironment rollout.Rule = "Environment"
	// ruleKubelet: the kubelet has to start the container again.
	ruleKubelet rollout.Rule = "Kubelet"
	// ruleRestart: the container is restarted after a pause. The number is that of tries.
	ruleRestart rollout.Rule = "Restart"
)

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

// wait notes what a container, or with an empty name the pod, waits for.
func (p *planner) wait(container string, rule rollout.Rule, message string) *rollout.Wait {
	wait := rollout.Wait{Pod: p.Pod, Reason: &rollout.Reason{Rule: rule, Message: message}}
	if container != "" {
		wait.Subject = rollout.Subject{Kind: "container", Name: container}
	}
	p.Waiting = append(p.Waiting, wait)
	return &p.Waiting[len(p.Waiting)-1]
}

// lookAgain has another plan made after a time at the latest.
func (p *Plan) lookAgain(after time.Duration) {
	p.RequeueAfter = apply.Soonest(p.RequeueAfter, max(after, 1))
}
