// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// Trouble is what is wrong with a pod: the zero value is nothing.
type Trouble struct {
	// Rule is a reason out of reasons.
	Rule rollout.Rule
	// Why says what was found, and Ends what ends it.
	Why, Ends string
}

// OfPod returns what the pod itself says of why it is not available, the first cause first. Of a pod that is ready and stays it
// returns nothing.
func OfPod(pod *corev1.Pod) Trouble {
	if pod.DeletionTimestamp == nil && readiness.Ready(pod) && !podstate.Ended(pod) {
		return Trouble{}
	}
	for _, find := range []func(*corev1.Pod) Trouble{terminating, rejected, unscheduled, container, gate} {
		if t := find(pod); t.Rule != "" {
			return t
		}
	}
	return trouble(NotReady, cmp.Or(condition(pod, corev1.PodReady).Message, "the pod is not ready"))
}

func trouble(rule rollout.Rule, why string) Trouble { return Trouble{rule, why, Of(rule).Ends} }

func condition(pod *corev1.Pod, t corev1.PodConditionType) corev1.PodCondition {
	if c := readiness.Condition(pod, t); c != nil {
		return *c
	}
	return corev1.PodCondition{}
}

// terminating finds what keeps a pod that is being deleted.
func terminating(pod *corev1.Pod) Trouble {
	switch {
	case pod.DeletionTimestamp == nil:
		return Trouble{}
	case len(pod.Finalizers) > 0:
		return trouble(Finalizer, "the pod is being deleted, and has the finalizers "+strings.Join(pod.Finalizers, ", "))
	}
	return trouble(Terminating, fmt.Sprintf("the pod has until %s to end", pod.DeletionTimestamp.UTC().Format("15:04:05")))
}

// rejected finds a pod that has ended, which a kubelet may have refused.
func rejected(pod *corev1.Pod) Trouble {
	if !podstate.Ended(pod) {
		return Trouble{}
	}
	return trouble(Rejected, strings.TrimSuffix(fmt.Sprintf("the pod has ended (%s): %s", cmp.Or(pod.Status.Reason, string(pod.Status.Phase)), pod.Status.Message), ": "))
}

// unscheduled finds why a pod has no node.
func unscheduled(pod *corev1.Pod) Trouble {
	c := condition(pod, corev1.PodScheduled)
	switch {
	case c.Status != corev1.ConditionFalse:
		return Trouble{}
	case c.Reason == corev1.PodReasonSchedulingGated:
		return trouble(SchedulingGated, cmp.Or(c.Message, "the pod has scheduling gates"))
	case strings.Contains(strings.ToLower(c.Message), "persistentvolumeclaim"):
		return trouble(Claim, c.Message)
	}
	return trouble(Unschedulable, c.Message)
}

// waiting says of why containers wait which reason that is. Ends is given if it is another than that of the reason.
var waiting = map[string]Trouble{
	"ErrImagePull":               {Rule: Image},
	"ImagePullBackOff":           {Rule: Image},
	"ErrImageNeverPull":          {Rule: Image, Ends: "the image is on the node, or the template's imagePullPolicy lets it be pulled"},
	"InvalidImageName":           {Rule: Image, Ends: "the template names an image that can be"},
	"CrashLoopBackOff":           {Rule: CrashLoop},
	"CreateContainerConfigError": {Rule: Config},
	"CreateContainerError":       {Rule: Config, Ends: "the runtime can create the container"},
}

// container finds a container that does not start.
func container(pod *corev1.Pod) Trouble {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			status := &statuses[i]
			if status.State.Waiting == nil {
				continue
			}
			if t, known := waiting[status.State.Waiting.Reason]; known {
				t.Ends = cmp.Or(t.Ends, Of(t.Rule).Ends)
				t.Why = strings.TrimSuffix(fmt.Sprintf("container %s of image %s: %s: %s", status.Name, status.Image, status.State.Waiting.Reason, status.State.Waiting.Message), ": ")
				return t
			}
		}
	}
	return Trouble{}
}

// gate finds a readiness gate that is not met, while the containers are ready.
func gate(pod *corev1.Pod) Trouble {
	if condition(pod, corev1.ContainersReady).Status != corev1.ConditionTrue {
		return Trouble{}
	}
	for _, g := range pod.Spec.ReadinessGates {
		if c := condition(pod, g.ConditionType); c.Status != corev1.ConditionTrue {
			return trouble(ReadinessGate, strings.TrimSuffix(fmt.Sprintf("readiness gate %s is not met: %s", g.ConditionType, c.Message), ": "))
		}
	}
	return Trouble{}
}
