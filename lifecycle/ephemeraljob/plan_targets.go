// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/podstate"
)

// target is a pod that the job is for.
type target struct {
	pod   *corev1.Pod
	own   []string // the names of the containers that the job has injected into it
	state State
}

// findTargets finds the pods that the job is for, and how far they are. (EJ-4 to EJ-6)
func (p *planner) findTargets(matcher labels.Selector) {
	wanted := namesFor(p.Job)
	var injected, others []target
	for _, pod := range byAge(p.Pods) {
		if !podstate.Active(pod) || pod.Namespace != p.Job.Namespace || !matcher.Matches(labels.Set(pod.Labels)) {
			continue
		}
		t := target{pod: pod, own: ownContainers(p.Job, pod)}
		if t.state = p.stateOf(pod, t.own); t.state != NotInjected {
			injected = append(injected, t)
			if t.state != Succeeded && t.state != Failed && p.holdsPlace(&t) {
				p.active++
			}
			continue
		}
		if why := closed(pod, wanted); why != "" {
			p.plan.Skipped = append(p.plan.Skipped, rollout.PodWaits(pod, &rollout.Reason{Rule: ruleNameTaken, Message: why}))
			continue
		}
		others = append(others, t)
	}
	p.targets = append(injected, others...)
	if replicas := p.Job.Spec.Replicas; replicas != nil {
		p.targets = p.targets[:min(len(p.targets), max(int(*replicas), 0))]
	}
	for i := range p.targets {
		p.plan.Targets = append(p.plan.Targets, Target{p.targets[i].pod, p.targets[i].state})
	}
}

// byAge returns the pods, the oldest first, of one age by name.
func byAge(pods []*corev1.Pod) []*corev1.Pod {
	return slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// mostContainers is how many ephemeral containers a pod may have, those of others included. None can be removed again, and a pod
// that grows for ever can be stored no more.
const mostContainers = 100

// closed says why a pod can get no containers of the wanted names; empty if it can. (EJ-5)
func closed(pod *corev1.Pod, wanted []string) string {
	if name := taken(pod, wanted); name != "" {
		return fmt.Sprintf("it has another ephemeral container %s", name)
	}
	if n := len(pod.Spec.EphemeralContainers); n+len(wanted) > mostContainers {
		return fmt.Sprintf("it has %d ephemeral containers, and may have %d", n, mostContainers)
	}
	return ""
}

// taken returns the name of an ephemeral container of a pod that is wanted for another one;
// empty if there is none.
func taken(pod *corev1.Pod, wanted []string) string {
	for i := range pod.Spec.EphemeralContainers {
		if name := pod.Spec.EphemeralContainers[i].Name; slices.Contains(wanted, name) {
			return name
		}
	}
	return ""
}

// stateOf tells how far the containers of a pod that the job has injected are. (EJ-15)
func (p *planner) stateOf(pod *corev1.Pod, own []string) State {
	if len(own) == 0 {
		return NotInjected
	}
	count := map[State]int{}
	for _, name := range own {
		count[p.containerState(pod, ephemeralStatus(pod, name))]++
	}
	switch {
	case count[Failed] > 0:
		return Failed
	case count[Succeeded] == len(own):
		return Succeeded
	case count[Running] > 0:
		return Running
	case count[Waiting] > 0:
		return Waiting
	}
	return Injected
}

// cannotStart is why a container waits that will never run.
const cannotStart = "RunContainerError"

// How long containers may not run. They hold the place of their pod for so long. They have failed after so long if the
// kubelet says that they cannot be started. (EJ-9, EJ-15)
const (
	placeHeld  = 2 * time.Minute
	startTried = 5 * time.Minute
)

// startsNot are the reasons for which a container waits that no wait mends. The template, the image's name, or what it
// refers to has to change.
var startsNot = []string{"CreateContainerConfigError", "CreateContainerError", "InvalidImageName", "ErrImageNeverPull", cannotStart}

// containerState tells how far a container of a pod is: one that cannot be started has failed after a while. (EJ-15)
func (p *planner) containerState(pod *corev1.Pod, status *corev1.ContainerStatus) State {
	state := containerState(status)
	if state != Waiting || !slices.Contains(startsNot, status.State.Waiting.Reason) {
		return state
	}
	if p.after(pod, startTried) {
		return Failed
	}
	return Waiting
}

// after tells whether no container of a pod has run for a time; else another plan is made then.
func (p *planner) after(pod *corev1.Pod, d time.Duration) bool {
	since, known := p.Idle[pod.UID]
	if !known {
		return false
	}
	left := since.Add(d).Sub(p.Now)
	if left > 0 {
		p.requeueAfter(left)
	}
	return left <= 0
}

// holdsPlace tells whether a pod counts for spec.parallelism. It does not without a node. It also does not if no
// container has run for a while. The kubelet of its node may be dead, or the image cannot be pulled. (EJ-9)
func (p *planner) holdsPlace(t *target) bool {
	if t.state == Running || t.pod.Spec.NodeName != "" && !p.after(t.pod, placeHeld) {
		return true
	}
	p.stuck = append(p.stuck, rollout.PodWaits(t.pod, &rollout.Reason{Rule: ruleNotStarted, Message: t.idle()}))
	return false
}

// idle says what the containers of a pod wait for.
func (t *target) idle() string {
	if t.pod.Spec.NodeName == "" {
		return "it has no node"
	}
	for _, name := range t.own {
		if status := ephemeralStatus(t.pod, name); status != nil && status.State.Waiting != nil {
			return images.Cut(fmt.Sprintf("container %s waits: %s %s", name, status.State.Waiting.Reason, status.State.Waiting.Message), 200)
		}
	}
	return "the kubelet of node " + t.pod.Spec.NodeName + " has not reported on the containers"
}

// containerState tells how far a container is by its status, nil if there is none.
func containerState(status *corev1.ContainerStatus) State {
	if status == nil {
		return Injected
	}
	switch state := &status.State; {
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		return Failed
	case state.Terminated != nil:
		return Succeeded
	case state.Running != nil:
		return Running
	case state.Waiting != nil && state.Waiting.Reason == cannotStart:
		return Failed
	case state.Waiting != nil:
		return Waiting
	}
	return Injected
}

// ephemeralStatus is the status of the ephemeral container with a name, nil if the
// kubelet has not reported on it.
func ephemeralStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for i := range pod.Status.EphemeralContainerStatuses {
		if pod.Status.EphemeralContainerStatuses[i].Name == name {
			return &pod.Status.EphemeralContainerStatuses[i]
		}
	}
	return nil
}

// count counts the targets by how far they are. (EJ-15)
func (p *planner) count() {
	s := &p.status
	s.Matches, s.Skipped = int32(len(p.targets)), int32(len(p.plan.Skipped))
	s.Running, s.Succeeded, s.Waiting, s.Failed = 0, 0, 0, 0
	counters := map[State]*int32{Running: &s.Running, Succeeded: &s.Succeeded, Waiting: &s.Waiting, Failed: &s.Failed}
	for i := range p.targets {
		if counter := counters[p.targets[i].state]; counter != nil {
			*counter++
		}
	}
	s.PodResults, s.OmittedPodResults = p.results()
}
