// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/util/podutils"
)

// pods finds out why pods are not ready, or do not go.
func pods(s *Situation) []Blocker {
	var all []Blocker
	sorted := slices.Clone(s.Plan.Pods)
	slices.SortFunc(sorted, func(a, b *corev1.Pod) int { return cmp.Compare(s.Plan.NameOf(a), s.Plan.NameOf(b)) })
	for _, pod := range sorted {
		b := trouble(s, pod)
		if b == nil {
			continue
		}
		same := slices.IndexFunc(all, func(other Blocker) bool { return other.Code == b.Code && other.Why == b.Why })
		if same < 0 {
			all, same = append(all, *b), len(all)
		}
		all[same].Pods = append(all[same].Pods, s.Plan.NameOf(pod))
	}
	return all
}

// trouble returns what is wrong with a pod, the first cause first; nil where nothing is.
func trouble(s *Situation, pod *corev1.Pod) *Blocker {
	if pod.DeletionTimestamp == nil && podutils.IsPodReady(pod) {
		return nil
	}
	for _, find := range []func(*Situation, *corev1.Pod) *Blocker{lostNode, terminating, unscheduled, container, gate} {
		if b := find(s, pod); b != nil {
			return b
		}
	}
	return &Blocker{Code: "NotReady", Why: cmp.Or(condition(pod, corev1.PodReady).Message, "its containers run, and the pod is not ready"),
		Ends: "its readiness probes succeed, or the template is changed"}
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

// lostNode finds a node that is gone or does not report.
func lostNode(s *Situation, pod *corev1.Pod) *Blocker {
	if s.Nodes == nil || pod.Spec.NodeName == "" {
		return nil
	}
	why := "does not exist"
	if node := s.Nodes[pod.Spec.NodeName]; node != nil {
		why = ""
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
				why = "is not ready: " + cmp.Or(c.Message, c.Reason)
			}
		}
	}
	if why == "" {
		return nil
	}
	return &Blocker{Code: "Node", Why: fmt.Sprintf("node %s %s", pod.Spec.NodeName, why), Ends: "the node is ready again, or is deleted"}
}

// terminating finds what keeps a pod that is being deleted.
func terminating(s *Situation, pod *corev1.Pod) *Blocker {
	switch {
	case pod.DeletionTimestamp == nil:
		return nil
	case len(pod.Finalizers) > 0:
		return &Blocker{Code: "Finalizer", Why: fmt.Sprintf("the pod is being deleted, and has the finalizers %s", strings.Join(pod.Finalizers, ", ")),
			Ends: "the controllers that set them remove them"}
	}
	return &Blocker{Code: "Terminating", Why: fmt.Sprintf("the pod has until %s to end", pod.DeletionTimestamp.UTC().Format("15:04:05")), Ends: "its containers have stopped"}
}

// unscheduled finds why a pod has no node.
func unscheduled(_ *Situation, pod *corev1.Pod) *Blocker {
	c := condition(pod, corev1.PodScheduled)
	if c.Status != corev1.ConditionFalse {
		return nil
	}
	if c.Reason == corev1.PodReasonSchedulingGated {
		return &Blocker{Code: "SchedulingGated", Why: cmp.Or(c.Message, "the pod has scheduling gates"), Ends: "the controllers that set them remove them"}
	}
	if strings.Contains(c.Message, "PersistentVolumeClaim") || strings.Contains(c.Message, "persistentvolumeclaim") {
		return &Blocker{Code: "Claim", Why: c.Message, Ends: "the claims of the pod are bound"}
	}
	return &Blocker{Code: "Unschedulable", Why: c.Message, Ends: "a node has room for the pod, or the template asks for less"}
}

// reasons says of why containers wait what it is called, and what ends it.
var reasons = map[string][2]string{
	"ErrImagePull":               {"Image", "the image can be pulled, or the template names another one"},
	"ImagePullBackOff":           {"Image", "the image can be pulled, or the template names another one"},
	"ErrImageNeverPull":          {"Image", "the image is on the node, or the template's imagePullPolicy lets it be pulled"},
	"InvalidImageName":           {"Image", "the template names an image that can be"},
	"CrashLoopBackOff":           {"CrashLoop", "the container stays up, or the template is changed; kubectl logs --previous says why it ended"},
	"CreateContainerConfigError": {"Config", "what the template refers to exists"},
	"CreateContainerError":       {"Config", "the runtime can create the container"},
}

// container finds a container that does not start.
func container(_ *Situation, pod *corev1.Pod) *Blocker {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting := status.State.Waiting
		if waiting == nil {
			continue
		}
		if known, ok := reasons[waiting.Reason]; ok {
			why := fmt.Sprintf("container %s of image %s: %s", status.Name, status.Image, waiting.Reason)
			if waiting.Message != "" {
				why += ": " + waiting.Message
			}
			return &Blocker{Code: known[0], Why: why, Ends: known[1]}
		}
	}
	return nil
}

// gate finds a readiness gate that is not met, where the containers are ready.
func gate(_ *Situation, pod *corev1.Pod) *Blocker {
	if condition(pod, corev1.ContainersReady).Status != corev1.ConditionTrue {
		return nil
	}
	for _, g := range pod.Spec.ReadinessGates {
		if c := condition(pod, g.ConditionType); c.Status != corev1.ConditionTrue {
			return &Blocker{Code: "ReadinessGate", Why: strings.TrimSuffix(fmt.Sprintf("readiness gate %s is not met: %s", g.ConditionType, c.Message), ": "),
				Ends: "the controller that is responsible for the condition sets it to True"}
		}
	}
	return nil
}
