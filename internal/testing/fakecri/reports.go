// SPDX-License-Identifier: Apache-2.0

package fakecri

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// NodeKubelet is a Kubelet of all pods of a namespace that also reports whether they are ready.
type NodeKubelet struct {
	Kubelet
	// Startup is how long containers take to be ready.
	Startup time.Duration
	// Broken has containers that were restarted never be ready.
	Broken bool
	// Skew is by how much the clock of the node is ahead.
	Skew time.Duration
}

// Step makes a step for each pod, and removes those that are to go. What another writer was faster with is reported by the next step.
func (k *NodeKubelet) Step(ctx context.Context, namespace string) error {
	client := k.Client.CoreV1().Pods(namespace)
	pods, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp != nil {
			if err := client.Delete(ctx, pod.Name, *metav1.NewDeleteOptions(0)); err != nil {
				return err
			}
			continue
		}
		before := pod.Status.DeepCopy()
		if err := k.Run(pod); err != nil {
			return err
		}
		k.report(pod)
		if equality.Semantic.DeepEqual(before, &pod.Status) {
			continue
		}
		if _, err := client.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// report puts into the status of a pod since when its containers run, and whether they are ready.
func (k *NodeKubelet) report(pod *corev1.Pod) {
	started := map[string]time.Time{}
	for _, c := range k.Runtime.Containers() {
		started[defaultName+"://"+c.Status.Id] = time.Unix(0, c.Status.StartedAt).Truncate(time.Second)
	}
	all := true
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		s.State.Running.StartedAt = metav1.NewTime(started[s.ContainerID])
		s.Ready = time.Since(started[s.ContainerID].Add(-k.Skew)) >= k.Startup && !(k.Broken && s.RestartCount > 0)
		all = all && s.Ready
	}
	setCondition(pod, corev1.ContainersReady, all)
	if condition(pod, "KruisePodReady") == nil { // the pod-readiness controller
		setCondition(pod, "KruisePodReady", true)
	}
	for _, gate := range pod.Spec.ReadinessGates {
		all = all && condition(pod, gate.ConditionType).Status == corev1.ConditionTrue
	}
	setCondition(pod, corev1.PodReady, all)
}

func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	if i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == t }); i >= 0 {
		return &pod.Status.Conditions[i]
	}
	return nil
}

func setCondition(pod *corev1.Pod, t corev1.PodConditionType, is bool) {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	if c := condition(pod, t); c == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: status})
	} else if c.Status != status {
		*c = corev1.PodCondition{Type: t, Status: status}
	}
}

// Skewed is a clock that is ahead of the real one, which is that of the API server.
type Skewed struct {
	clock.RealClock
	By time.Duration
}

// Now is the time of the clock.
func (c Skewed) Now() time.Time { return time.Now().Add(c.By) }

// Since is how long ago a time of the clock is.
func (c Skewed) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
