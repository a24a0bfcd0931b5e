// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// startupReport is how long it takes at most until a kubelet has reported that it runs another container. The same time
// counts once more for what its startup probe has said of that.
const startupReport = 5 * time.Second

// Starting returns for how long yet the kubelet's word that a container has started is not to be trusted; 0 if it is. That is
// so of a container or native sidecar with a startup probe that an update in place has restarted. A kubelet of Kubernetes 1.35
// to 1.37 copies from the container before that it had started. It takes that back when it next runs the startup probe, once in
// periodSeconds. The probe cannot succeed before initialDelaySeconds. (IP-45)
//
// state is called if it is needed, and returns what Replace or Begin recorded, nil for nothing. It decides which restart was that
// of the update: the container before was the recorded one. One that still is the recorded one may have been restarted by an update
// before, of which the present one has taken something back. After any other restart the kubelet has seen that a container
// stopped, and copies nothing. A status is trusted as much later as the clock of its node is ahead,
// and as much sooner as that is behind.
func Starting(pod *corev1.Pod, name string, state func() *v1alpha1.State, now time.Time) time.Duration {
	c, status := podstate.Lasting(pod, name), podstate.LastingStatus(pod, name)
	if c == nil || c.StartupProbe == nil || status == nil || status.Started == nil || !*status.Started ||
		status.State.Running == nil || status.LastTerminationState.Terminated == nil {
		return 0
	}
	left := status.State.Running.StartedAt.Add(untrusted(c.StartupProbe)).Sub(now)
	if left <= 0 {
		return 0
	}
	recorded := state()
	if recorded == nil {
		return 0
	}
	if id := recorded.LastContainers[name].ContainerID; id == "" || id != status.LastTerminationState.Terminated.ContainerID && id != status.ContainerID {
		return 0
	}
	return left
}

// untrusted is for how long after a restart the word of the kubelet on a startup probe may be that on the container before.
func untrusted(probe *corev1.Probe) time.Duration {
	const usual = 10 // what the API server writes for periodSeconds
	period := probe.PeriodSeconds
	if period <= 0 {
		period = usual
	}
	return max(time.Duration(probe.InitialDelaySeconds)*time.Second, time.Duration(period)*time.Second+startupReport)
}

// StartingWords says in words what Starting waits for.
func StartingWords(name string) string {
	return fmt.Sprintf("container %s: the kubelet has still to ask its startup probe after the restart", name)
}

// AnyStarting is Starting for the containers that a state records. A nil state stands for that of the pod's own update, and for
// none if that cannot be read. AnyStarting says in words what it waits for, empty for nothing, and for how long yet. (IP-45)
func AnyStarting(pod *corev1.Pod, state *v1alpha1.State, now time.Time) (waiting string, left time.Duration) {
	if state == nil {
		if state, _ = readState(pod); state == nil {
			return "", 0
		}
	}
	for name := range state.LastContainers {
		of := Starting(pod, name, func() *v1alpha1.State { return state }, now)
		if of > left || of == left && of > 0 && StartingWords(name) < waiting {
			waiting, left = StartingWords(name), of
		}
	}
	return waiting, left
}
