// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Run makes one step for a pod on its node, which it changes: nothing is asked of a server, and nothing written.
func (k *Kubelet) Run(pod *corev1.Pod) {
	k.run(pod, nil)
	pod.Status.ObservedGeneration = pod.Generation
}

// Judge gives a pod the conditions that the statuses of its containers and its gates ask for.
func (k *Kubelet) Judge(pod *corev1.Pod) {
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	containers := !slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool { return !s.Ready })
	k.condition(pod, corev1.ContainersReady, containers)
	k.condition(pod, corev1.PodReady, containers && gatesOpen(pod))
}
