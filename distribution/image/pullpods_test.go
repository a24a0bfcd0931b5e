// SPDX-License-Identifier: Apache-2.0

package image

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pullPods ends the pods that are being deleted, and returns the others.
func (c *cluster) pullPods() (pods []corev1.Pod) {
	c.Helper()
	all, err := c.kube.CoreV1().Pods(namespace).List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, pod := range all.Items {
		if pod.DeletionTimestamp == nil {
			pods = append(pods, pod)
			continue
		}
		c.Must(c.kube.CoreV1().Pods(namespace).Delete(c.Context(), pod.Name, *metav1.NewDeleteOptions(0)))
	}
	return pods
}

// kubelet has the kubelet of the node look at the only pod that does not run: nil runs
// it, any other says why not.
func (c *cluster) kubelet(waiting *corev1.ContainerStateWaiting) {
	c.Helper()
	pods := slices.DeleteFunc(c.pullPods(), func(pod corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Running != nil
	})
	if len(pods) != 1 {
		c.Fatalf("%d pods that do not run, want 1", len(pods))
	}
	pod := &pods[0]
	if pod.Spec.NodeName == "" {
		err := c.kube.CoreV1().Pods(namespace).Bind(c.Context(), &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "n0000"}}, metav1.CreateOptions{})
		c.Must(err)
		pod, err = c.kube.CoreV1().Pods(namespace).Get(c.Context(), pod.Name, metav1.GetOptions{})
		c.Must(err)
	}
	status := corev1.ContainerStatus{Name: "pause", State: corev1.ContainerState{Waiting: waiting}}
	if waiting == nil {
		status.ContainerID, status.State.Running = "containerd://1", &corev1.ContainerStateRunning{}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	_, err := c.kube.CoreV1().Pods(namespace).UpdateStatus(c.Context(), pod, metav1.UpdateOptions{})
	c.Must(err)
	c.Sleep(time.Second)
}
