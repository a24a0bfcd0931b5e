// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
)

// startsAfter is after how many halves of a period the startup probe of a container succeeds: the first question comes too early.
const startsAfter = 5

// startup reports what the startup probe of a running container says, as kubelets of Kubernetes 1.35 to 1.37 do. Of one that they
// have restarted, as its image has changed, they copy that it has started. They take it back when they ask the probe first,
// a period later. It succeeds when two and a half periods have passed. was is the status before a restart, nil for none.
func startup(c *corev1.Container, s, was *corev1.ContainerStatus, now time.Time) {
	if c.StartupProbe == nil || s.State.Running == nil {
		s.Started = nil
		return
	}
	if was != nil {
		started := false
		if was.State.Running != nil { // they have not seen it stop
			started = was.Started != nil && *was.Started
			s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ContainerID: was.ContainerID}
		}
		s.Started = &started
	}
	period := time.Duration(cmp.Or(c.StartupProbe.PeriodSeconds, 10)) * time.Second
	if age := now.Sub(s.State.Running.StartedAt.Time); age >= period {
		s.Started = ptr.To(age >= startsAfter*period/2)
	}
	s.Ready = s.Ready && *s.Started
}

// Ask has the kubelet of a pod ask the startup probes whose turn has come, and do nothing else. Real ones do so in time, however
// late they come to the rest. It tells whether that changes anything. The pod stays unchanged.
func (k *Kubelet) Ask(ctx context.Context, pod *corev1.Pod) (changes bool, err error) {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
		return false, nil
	}
	after, containers := pod.DeepCopy(), true
	ask := func(all []corev1.Container, statuses []corev1.ContainerStatus) {
		for i := range statuses {
			s := &statuses[i]
			of := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == s.Name })
			if of >= 0 && s.Started != nil && s.State.Running != nil {
				was := *s.Started
				s.Ready = k.works(s.Image, s.Name)
				if startup(&all[of], s, nil, k.clock().Now()); was == *s.Started {
					s.Ready = statusNamed(pod, s.Name).Ready
				}
			}
			containers = containers && s.Ready
		}
	}
	ask(after.Spec.InitContainers, after.Status.InitContainerStatuses)
	ask(after.Spec.Containers, after.Status.ContainerStatuses)
	if equality.Semantic.DeepEqual(pod.Status, after.Status) {
		return false, nil
	}
	k.report(after, containers)
	return true, k.write(ctx, after)
}

// works tells whether a container that runs an image becomes ready.
func (k *Kubelet) works(image, container string) bool {
	return (k.Broken == nil || !k.Broken(image)) && (k.Unready == nil || !k.Unready(container))
}

func statusNamed(pod *corev1.Pod, name string) (s corev1.ContainerStatus) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.Name == name {
			return s
		}
	}
	return s
}
