// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// knownWithin is how long the request waits for the kubelet, after the phase was written.
// (ST-15.2)
const knownWithin = 30 * time.Second

// phaseGiven is the condition of a pod that was given its phase, nil if it was not.
func phaseGiven(pod *corev1.Pod) *corev1.PodCondition {
	if c := readiness.Condition(pod, v1alpha1.SidecarTerminatedCondition); c != nil && c.Status == corev1.ConditionTrue {
		return c
	}
	return nil
}

// knowsPhase tells whether the kubelet has shown that it knows the phase Succeeded. It
// makes this condition from that phase alone, whatever the containers do, and never while
// it takes the pod for Running. See GenerateContainersReadyCondition in
// k8s.io/kubernetes/pkg/kubelet/status. (ST-15.1)
func knowsPhase(pod *corev1.Pod) bool {
	c := readiness.Condition(pod, corev1.ContainersReady)
	return c != nil && c.Status == corev1.ConditionFalse && c.Reason == "PodCompleted"
}

// isGiven tells whether a pod was given the phase Succeeded, perhaps before its request,
// and a sidecar still runs that the request is for. (ST-15)
func isGiven(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodSucceeded || phaseGiven(pod) == nil || !hasSidecars(pod) {
		return false
	}
	mains, sidecars, complete := containersOf(pod)
	return complete && unfinished(pod, mains) == nil &&
		slices.ContainsFunc(sidecars, func(c container) bool { return c.counts(pod) }) &&
		slices.ContainsFunc(sidecars, func(c container) bool { return c.byRequest() && c.running() })
}

func (c *container) byRequest() bool {
	byRequest, _ := methodsOf(c.Container, false)
	return byRequest
}

// counts tells whether a request is to stop a sidecar, and its failure then counts. (ST-15)
func (c *container) counts(pod *corev1.Pod) bool {
	return c.byRequest() && failureCounts(pod, c.Container)
}

// counting names those of the sidecars that run, and whose failure counts.
func counting(pod *corev1.Pod, of []container) (names []string) {
	for i := range of {
		if c := &of[i]; c.running() && c.counts(pod) {
			names = append(names, c.Name)
		}
	}
	return names
}

// follow plans the request for a pod that was given its phase before. (ST-15.1)
func (p *planner) follow() {
	mains, sidecars, _ := containersOf(p.Pod)
	p.mains, p.left = mains, unfinished(p.Pod, sidecars)
	p.request()
	rest := p.untilKnown()
	if p.plan.Create == nil || rest == 0 {
		return
	}
	for _, name := range p.plan.requested() {
		p.wait(ruleKubelet, name, "it is stopped once the kubelet shows that it knows the phase of the pod, in %s at the latest", rest.Round(time.Second))
	}
	p.plan.Create = nil
	p.lookAgain(rest)
}

// untilKnown is how long the request still waits for the kubelet to show that it knows the
// phase; 0 if no longer. A kubelet that does not know it yet would make Failed of the exit
// code of the sidecar, and write that over it. The time of the condition may be by another
// clock. If that is ahead, what counts is when this controller first saw it. (ST-15.2)
func (p *planner) untilKnown() time.Duration {
	given := phaseGiven(p.Pod)
	if given == nil {
		return knownWithin // it is yet to be written
	}
	if knowsPhase(p.Pod) {
		return 0
	}
	since, seen := given.LastTransitionTime.Time, p.PhaseSeen
	if seen.IsZero() {
		seen = p.Now
	}
	if since.After(seen) {
		since = seen
	}
	return max(knownWithin-p.Now.Sub(since), 0)
}
