// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// turn is the turn of the containers of one priority: the highest of those that
// are not ready.
type turn struct {
	priority   int
	containers []string
	// keys release them: one, unless a user has written barriers by hand.
	keys []string
	// refused says that the kubelet could not create one of them. It may be
	// that a key is missing.
	refused bool
}

// reasonRefused is what the kubelet reports of a container that refers to a
// key that does not exist, and of other faults in its configuration.
const reasonRefused = "CreateContainerConfigError"

// turnOf finds out whose turn it is, and false if it is no container's. Then the pod has
// no barriers, all containers behind them are ready, or the kubelet has not reported on
// them and that matters. (LP-8, LP-10, LP-17)
func (f Features) turnOf(pod *corev1.Pod) (t turn, found bool) {
	if !f.starting(pod) {
		return turn{}, false
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		keys, priority := barriersOf(pod, c)
		status := podstate.ContainerStatus(pod, c.Name)
		if len(keys) == 0 || !f.open(pod, c, status) {
			continue
		}
		if !found || priority > t.priority {
			t, found = turn{priority: priority}, true
		}
		if priority == t.priority {
			t.add(c.Name, keys, status)
		}
	}
	return t, found
}

// open tells whether a container is not ready, and may become so; the status is nil without a report.
func (f Features) open(pod *corev1.Pod, c *corev1.Container, status *corev1.ContainerStatus) bool {
	if status == nil {
		return f.KeyBeforeReport
	}
	return !status.Ready && !done(pod, c, status)
}

func (t *turn) add(container string, keys []string, status *corev1.ContainerStatus) {
	t.containers = append(t.containers, container)
	for _, key := range keys {
		if !slices.Contains(t.keys, key) {
			t.keys = append(t.keys, key)
		}
	}
	if status != nil {
		waiting := status.State.Waiting
		t.refused = t.refused || waiting != nil && waiting.Reason == reasonRefused
	}
}

// starting tells whether the kubelet is at work on a pod, or is to be, and not all of its
// containers are ready.
func (f Features) starting(pod *corev1.Pod) bool {
	if !podstate.Active(pod) {
		return false
	}
	condition := readiness.Condition(pod, corev1.ContainersReady)
	if condition == nil {
		return f.KeyBeforeReport
	}
	return condition.Status != corev1.ConditionTrue
}

// barriersOf returns the keys that a container waits for in the ConfigMap of
// its pod, and its priority. What refers to another ConfigMap can only be a
// mistake, which keeps no other container waiting.
func barriersOf(pod *corev1.Pod, c *corev1.Container) (keys []string, priority int) {
	for _, b := range barrier.Of(c) {
		if b.ConfigMap == barrier.ConfigMapName(pod.Name) {
			keys, priority = append(keys, b.Key), b.Priority
		}
	}
	return keys, priority
}

// done tells whether a container has ended with success and is not started
// again. It is never ready again then.
func done(pod *corev1.Pod, c *corev1.Container, status *corev1.ContainerStatus) bool {
	ended := status.State.Terminated
	if ended == nil || ended.ExitCode != 0 || len(c.RestartPolicyRules) > 0 {
		return false
	}
	policy := pod.Spec.RestartPolicy
	if c.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	return policy == corev1.RestartPolicyNever || policy == corev1.RestartPolicyOnFailure
}
