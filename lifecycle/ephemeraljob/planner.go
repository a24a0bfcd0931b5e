// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan   *Plan
	status v1alpha1.EphemeralJobStatus // the one to write

	targets []target // in the order in which they get their containers
	// active is in how many pods containers are under way, those beyond spec.replicas too.
	active int
	// stuck are the pods with containers of the job that do not run, and hold no place.
	stuck []rollout.Wait
	// overdue says that the job has been active for too long.
	overdue bool
}

// planRunning plans a job that has not finished.
func (p *planner) planRunning() {
	if p.status.StartTime == nil { // (EJ-3)
		p.status.StartTime = ptr.To(p.now())
	}
	if len(p.status.Conditions) == 0 {
		p.condition(v1alpha1.EphemeralJobInitialized, true, v1alpha1.EphemeralJobReasonInitialized, "The controller has seen the job")
	}
	matcher := p.check()
	if matcher != nil {
		p.findTargets(matcher)
	}
	p.count()
	p.conclude()
	if p.status.CompletionTime == nil {
		p.inject()
	}
	p.report()
	p.setHeldUp()
}

// check finds out what is wrong with the spec, and returns what selects the pods; nil if
// nothing does. (EJ-V2)
func (p *planner) check() labels.Selector {
	spec := &p.Job.Spec
	var matcher labels.Selector
	switch selector, err := metav1.LabelSelectorAsSelector(spec.Selector); {
	case spec.Selector == nil:
		p.problem(errors.New("spec.selector is missing: say by which labels the pods are found"))
	case err != nil:
		p.problem(fmt.Errorf("spec.selector: %w", err))
	default:
		matcher = selector
	}
	containers := spec.Template.EphemeralContainers
	switch {
	case spec.Template.Unreadable != "":
		p.problem(fmt.Errorf("spec.template.ephemeralContainers cannot be read: %s", spec.Template.Unreadable))
	case len(containers) == 0:
		p.problem(errors.New("spec.template.ephemeralContainers is empty: list the containers to inject"))
	}
	for i := range containers {
		name := containers[i].Name
		switch {
		case name == "":
			p.problem(fmt.Errorf("spec.template.ephemeralContainers[%d] has no name", i))
		case slices.ContainsFunc(containers[:i], func(c corev1.EphemeralContainer) bool { return c.Name == name }):
			p.problem(fmt.Errorf("spec.template.ephemeralContainers[%d]: another one is called %s too", i, name))
		}
	}
	return matcher
}

// inject decides which pods get their containers now. (EJ-9, EJ-14)
func (p *planner) inject() {
	hold := p.hold()
	var due []*corev1.Pod
	for _, refused := range []bool{false, true} { // a pod that is refused does not stand before others
		for i := range p.targets {
			t := &p.targets[i]
			refusal, was := p.Refusals.Pods[t.pod.UID]
			switch wait := refusal.Until.Sub(p.Now); {
			case t.state != NotInjected || was != refused:
			case t.pod.Spec.NodeName == "": // (EJ-9)
				p.wait([]*corev1.Pod{t.pod}, &rollout.Reason{Rule: ruleNotStarted, Message: t.idle()})
			case hold != nil:
				p.wait([]*corev1.Pod{t.pod}, hold)
			case was && wait > 0:
				p.wait([]*corev1.Pod{t.pod}, &rollout.Reason{Rule: rollout.RuleRefused, Message: refusal.Message})
				p.requeueAfter(wait)
			default:
				due = append(due, t.pod)
			}
		}
	}
	limit := int(ptr.Deref(p.Job.Spec.Parallelism, 1))
	n := min(len(due), max(limit-p.active, 0))
	p.wait(due[n:], &rollout.Reason{Rule: ruleParallelism, Limit: int32(limit), Observed: int32(p.active + n),
		Message: fmt.Sprintf("parallelism %d: containers are under way in %d pods", limit, p.active+n)})
	if n > 0 {
		p.plan.Inject, p.plan.Next, p.plan.Containers = due[:n], due[n:], containersFor(p.Job)
		p.plan.TryFirst = !slices.ContainsFunc(p.targets, func(t target) bool { return !notInjected(t) })
	}
}

// paused is why nothing is injected by a job that is paused.
var paused = &rollout.Reason{Rule: rollout.RulePaused, Message: "spec.paused is true"}

// hold returns what holds back all injections; nil if nothing does.
func (p *planner) hold() *rollout.Reason {
	switch {
	case len(p.plan.Problems) > 0:
		return &rollout.Reason{Rule: ruleProblem, Message: p.problems()}
	case p.Job.Spec.Paused: // (EJ-17)
		return paused
	case p.Refusals.Until.After(p.Now):
		p.requeueAfter(p.Refusals.Until.Sub(p.Now))
		return &rollout.Reason{Rule: rollout.RuleRefused,
			Message: fmt.Sprintf("the API server has refused the last injections; the next one is tried at %s", p.Refusals.Until.UTC().Format(time.TimeOnly))}
	}
	return nil
}

func (p *planner) wait(pods []*corev1.Pod, reason *rollout.Reason) {
	for _, pod := range pods {
		p.plan.Waiting = append(p.plan.Waiting, rollout.PodWaits(pod, reason))
	}
}

// hasFinalizer tells whether a job has the finalizer of this package.
func hasFinalizer(job *v1alpha1.EphemeralJob) bool {
	return slices.Contains(job.Finalizers, v1alpha1.EphemeralJobFinalizer)
}

// problem reports what is wrong with the spec.
func (p *planner) problem(err error) {
	p.plan.Problems = append(p.plan.Problems, rollout.Problem{Condition: string(v1alpha1.EphemeralJobConditionError), Err: err})
}

func (p *planner) event(kind, reason, message string) {
	p.plan.Events = append(p.plan.Events, Event{kind, reason, message})
}

// requeueAfter asks for another reconcile after d at the latest.
func (p *planner) requeueAfter(d time.Duration) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(d, time.Millisecond))
}
