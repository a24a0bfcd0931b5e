// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// outcome is the phase that the main containers give to their pod. It is empty if
// the kubelet alone decides. Without a main container nothing has succeeded, and who
// runs the containers of a virtual node may not end them for a phase. (ST-13, ST-19)
func (p *planner) outcome() corev1.PodPhase {
	if p.leavesPhase() || p.virtual() || len(p.mains) == 0 {
		return ""
	}
	for i := range p.mains {
		if p.mains[i].status.State.Terminated.ExitCode != 0 {
			return corev1.PodFailed
		}
	}
	return corev1.PodSucceeded
}

// leavesPhase tells whether the phase is left to the kubelet: not if a sidecar asks that its exit code be ignored.
// (ST-19, ST-20)
func (s *Snapshot) leavesPhase() bool {
	return s.LeavePhase && !slices.ContainsFunc(s.Pod.Spec.Containers, func(c corev1.Container) bool { return ignoresExitCode(&c) })
}

// decide plans the phase of the pod if the kubelet would come to another one, or to none. A
// kubelet that has learned of a final phase ends the containers that still run, with their
// preStop hooks and the pod's grace period. It changes the phase no more. Since meanwhile
// the pod counts as ended for all other clients, that is done only when it is needed.
// (ST-13)
func (p *planner) decide() {
	var open []string
	for i := range p.left {
		c := &p.left[i]
		if !p.over(c) {
			open = append(open, c.Name)
		}
	}
	outcome, counts := p.outcome(), counting(p.Pod, p.left)
	early := outcome == corev1.PodSucceeded && len(counts) > 0 && (p.Request != nil || p.plan.Create != nil) // ST-15
	if early && p.untilKnown() > 0 {
		p.plan.Create = nil // it follows the phase
	}
	switch {
	case outcome == "" || len(p.plan.Images) > 0: // what the first write meets is seen before the phase (ST-16)
	case len(open) == 0: // ST-14
		p.plan.Phase = outcome
		p.plan.PhaseReason = fmt.Sprintf("%s, and nothing else ends %s", p.mainsHave(outcome), strings.Join(p.states(), ", "))
	case early:
		p.plan.Phase = outcome
		p.plan.PhaseReason = fmt.Sprintf("%s, and the pod would fail with sidecar %s", p.mainsHave(outcome), strings.Join(counts, ", "))
	}
}

func (p *planner) mainsHave(outcome corev1.PodPhase) string {
	if outcome == corev1.PodFailed {
		return "a main container has failed"
	}
	return "all main containers have succeeded"
}

func (p *planner) states() (all []string) {
	for i := range p.left {
		all = append(all, fmt.Sprintf("sidecar %s, which %s", p.left[i].Name, stateOf(&p.left[i])))
	}
	return all
}

// over tells whether what was to end a sidecar has come to its end without that. Or the
// sidecar does not run at the moment and would be started again. Otherwise it notes what
// is waited for. (ST-14)
func (p *planner) over(c *container) bool {
	byRequest, image := methodsOf(c.Container, p.virtual())
	switch {
	case !byRequest && image == "":
		p.wait(ruleNoAgent, c.Name, "it is terminated by a request, and a virtual node has no agent that serves it")
	case !byRequest:
		return p.overByImage(c, image)
	case !c.running(): // ST-14.1
		return true
	case p.Request == nil:
		p.wait(ruleStop, c.Name, "it is going to be stopped")
	default:
		return p.overByRequest(c)
	}
	return false
}

// overByRequest tells whether a request has done what it can about a sidecar, which
// runs.
func (p *planner) overByRequest(c *container) bool {
	at := slices.IndexFunc(p.Request.Spec.Containers, func(r lifecyclev1alpha1.ContainerRecreateRequestContainer) bool { return r.Name == c.Name })
	rest := requestTime(p.Pod, len(p.Request.Spec.Containers)) - p.Now.Sub(p.Request.CreationTimestamp.Time)
	switch {
	case p.Request.Status.CompletionTime != nil: // ST-14.3
		return true
	case at < 0: // it was down when the request was created
		return true
	case stoppedBefore(&p.Request.Spec.Containers[at], c.status): // ST-14.2
		return true
	case rest <= 0: // ST-14.4
		return true
	}
	p.lookAgain(rest)
	p.wait(ruleStop, c.Name, "ContainerRecreateRequest %s is to stop it, in %s at the latest", p.Request.Name, rest.Round(time.Second))
	return false
}

// stoppedBefore tells whether another container has taken the place of the one that the
// request was created for.
func stoppedBefore(c *lifecyclev1alpha1.ContainerRecreateRequestContainer, status *corev1.ContainerStatus) bool {
	return c.StatusContext != nil && c.StatusContext.ContainerID != "" && c.StatusContext.ContainerID != status.ContainerID
}

// slack is what a node agent may take for a container beyond its grace period.
const slack = 10 * time.Second

// requestTime is how long a request may take: a node agent has so long to answer, and
// stops one container after the other.
func requestTime(pod *corev1.Pod, containers int) time.Duration {
	const most = int64(math.MaxInt64 / time.Second / 1000)
	grace := ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, lifecyclev1alpha1.DefaultContainerRecreateGracePeriodSeconds)
	each := time.Duration(min(max(grace, lifecyclev1alpha1.MinContainerRecreateGracePeriodSeconds), most))*time.Second + slack
	return lifecyclev1alpha1.ContainerRecreateResponseSeconds*time.Second + time.Duration(min(containers, 100))*each
}

// overByImage tells whether the image that a sidecar exits with does not come to run.
// (ST-14.5)
func (p *planner) overByImage(c *container, image string) bool {
	waiting := c.status.State.Waiting
	if c.has(image) && waiting != nil && !slices.Contains([]string{"", "ContainerCreating", "PodInitializing"}, waiting.Reason) {
		return true
	}
	p.wait(ruleImage, c.Name, "it exits once it runs the image %s; it %s", image, stateOf(c))
	return false
}

// replaced names the containers that get another image, sorted.
func (p *Plan) replaced() []string { return slices.Sorted(maps.Keys(p.Images)) }

// requested names the containers of the request to create.
func (p *Plan) requested() (names []string) {
	for i := range p.Create.Spec.Containers {
		names = append(names, p.Create.Spec.Containers[i].Name)
	}
	return names
}
