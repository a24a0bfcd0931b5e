// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// container is one of spec.containers with its status.
type container struct {
	*corev1.Container
	status *corev1.ContainerStatus
}

func (c *container) running() bool { return c.status.State.Running != nil }

// has tells whether the image that a container exits with stands in the pod. A webhook may have renamed it to a mirror. The image of
// a container that runs may have had such a name before. (ST-10)
func (c *container) has(image string) bool {
	return c.Image == image || !c.running() && podstate.Renamed(image, c.Image)
}

// methodsOf says how a container is terminated: by a request, by an image, by both,
// or not at all. What stands first in the environment counts. (ST-7)
func methodsOf(c *corev1.Container, virtual bool) (byRequest bool, image string) {
	for i := range c.Env {
		switch e := &c.Env[i]; {
		case e.Name == v1alpha1.TerminateSidecarEnv && !virtual && strings.EqualFold(e.Value, "true"):
			return true, image
		case e.Name == v1alpha1.TerminateSidecarWithImageEnv && image == "":
			image = e.Value
		}
	}
	return false, image
}

// ignoresExitCode tells whether a container is stopped by a request, and asks that its exit code be ignored. (ST-20)
func ignoresExitCode(c *corev1.Container) bool {
	byRequest, _ := methodsOf(c, false)
	return byRequest && slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
		return e.Name == v1alpha1.TerminateSidecarIgnoreExitCodeEnv && strings.EqualFold(e.Value, "true")
	})
}

// isSidecar tells whether a container is marked as a sidecar. What is not is a main
// container. (ST-1)
func isSidecar(c *corev1.Container) bool {
	byRequest, image := methodsOf(c, false)
	return byRequest || image != ""
}

// hasSidecars tells whether anything can ever be done about a pod. It is asked about
// every change of every pod.
func hasSidecars(pod *corev1.Pod) bool {
	if pod.Spec.RestartPolicy != corev1.RestartPolicyNever && pod.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	if _, static := pod.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return false
	}
	for i := range pod.Spec.Containers {
		if isSidecar(&pod.Spec.Containers[i]) {
			return true
		}
	}
	return false
}

// containersOf returns the main containers of a pod, and its sidecars. It returns
// false if the kubelet has not told of all of them yet. (ST-3)
func containersOf(pod *corev1.Pod) (mains, sidecars []container, complete bool) {
	if len(pod.Status.ContainerStatuses) != len(pod.Spec.Containers) {
		return nil, nil, false
	}
	for i := range pod.Spec.Containers {
		c := container{Container: &pod.Spec.Containers[i]}
		at := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
		if at < 0 {
			return nil, nil, false
		}
		c.status = &pod.Status.ContainerStatuses[at]
		if isSidecar(c.Container) {
			sidecars = append(sidecars, c)
		} else {
			mains = append(mains, c)
		}
	}
	return mains, sidecars, true
}

// isDue tells whether sidecars of a pod have to be terminated now. (ST-2)
func isDue(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning || !hasSidecars(pod) {
		return false
	}
	mains, sidecars, complete := containersOf(pod)
	return complete && unfinished(pod, mains) == nil && unfinished(pod, sidecars) != nil && !restartsAll(pod, mains, sidecars)
}

// unfinished returns those of the containers that have not ended for good.
func unfinished(pod *corev1.Pod, of []container) (left []container) {
	for i := range of {
		if !of[i].finished(pod) {
			left = append(left, of[i])
		}
	}
	return left
}

// finished tells whether a container has ended, and the kubelet will not start it
// again.
func (c *container) finished(pod *corev1.Pod) bool {
	ended := c.status.State.Terminated
	return ended != nil && !restarts(pod, c.Container, ended.ExitCode)
}

// restarts tells whether the kubelet starts a container again that has exited with a
// code. The first of its own rules that fits says so, its own policy, or that of its pod.
// (ST-2.1)
func restarts(pod *corev1.Pod, c *corev1.Container, code int32) bool {
	policy := corev1.ContainerRestartPolicy(pod.Spec.RestartPolicy)
	if c.RestartPolicy != nil {
		if rule := ruleFor(c, code); rule != nil {
			return true
		}
		policy = *c.RestartPolicy
	}
	switch policy {
	case corev1.ContainerRestartPolicyNever:
		return false
	case corev1.ContainerRestartPolicyOnFailure:
		return code != 0
	}
	return true
}

// ruleFor returns the first rule of a container that fits an exit code, nil for none.
func ruleFor(c *corev1.Container, code int32) *corev1.ContainerRestartRule {
	for i := range c.RestartPolicyRules {
		codes := c.RestartPolicyRules[i].ExitCodes
		if codes != nil && slices.Contains(codes.Values, code) == (codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
			return &c.RestartPolicyRules[i]
		}
	}
	return nil
}

// restartsAll tells whether the kubelet is about to start all containers again, those
// that have finished among them, since one of them has ended.
func restartsAll(pod *corev1.Pod, of ...[]container) bool {
	return slices.ContainsFunc(slices.Concat(of...), func(c container) bool {
		ended := c.status.State.Terminated
		return ended != nil && startsAll(c.Container, ended.ExitCode)
	})
}

func startsAll(c *corev1.Container, code int32) bool {
	if c.RestartPolicy == nil {
		return false
	}
	rule := ruleFor(c, code)
	return rule != nil && rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers
}

// failureCounts tells whether there is an exit code, other than 0, with which a container
// does more than be started again. Its pod fails, or its other containers run again.
func failureCounts(pod *corev1.Pod, c *corev1.Container) bool {
	last := int32(1) // without rules all are alike
	if len(c.RestartPolicyRules) > 0 {
		last = 255
	}
	for code := int32(1); code <= last; code++ {
		if !restarts(pod, c, code) || startsAll(c, code) {
			return true
		}
	}
	return false
}
