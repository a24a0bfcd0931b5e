// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// unconfigured names the containers that cannot be created: their environment
// refers to a key of a ConfigMap that is not there.
func (k *Kubelet) unconfigured(ctx context.Context, pod *corev1.Pod) (map[string]bool, error) {
	names := map[string]bool{}
	for _, c := range pod.Spec.Containers {
		for _, e := range c.Env {
			if e.ValueFrom == nil || e.ValueFrom.ConfigMapKeyRef == nil {
				continue
			}
			found, err := k.hasKey(ctx, pod.Namespace, e.ValueFrom.ConfigMapKeyRef)
			if err != nil {
				return nil, err
			}
			names[c.Name] = names[c.Name] || !found
		}
	}
	return names, nil
}

func (k *Kubelet) hasKey(ctx context.Context, namespace string, ref *corev1.ConfigMapKeySelector) (bool, error) {
	if ref.Optional != nil && *ref.Optional {
		return true, nil
	}
	configMap, err := k.Client.CoreV1().ConfigMaps(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, found := configMap.Data[ref.Key]
	return found, nil
}

// waiting is the status of a container that cannot be created, or not again
// with another image.
func waiting(was corev1.ContainerStatus, c *corev1.Container, reason string) corev1.ContainerStatus {
	if was.ContainerID == "" {
		was.Name, was.Image = c.Name, c.Image
	}
	was.Ready = false
	was.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	return was
}

// ResizeInProgress says that a resize is allocated, and its containers get it in a later step.
const ResizeInProgress = "InProgress"

// resize gives the containers of a pod the cpu and memory of its spec, as far as the node has them. It returns the
// names of the containers that restart for that. The statuses are those before.
func (k *Kubelet) resize(pod *corev1.Pod, statuses map[string]corev1.ContainerStatus) (restarts map[string]bool) {
	if k.Resize == nil {
		return nil
	}
	if pod.Status.ObservedGeneration = pod.Generation; !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return differs(&c, statuses) }) {
		k.resizeCondition(pod, "", "")
		return nil
	}
	switch reason := k.Resize(pod); reason {
	case "":
		k.resizeCondition(pod, "", "")
	case ResizeInProgress:
		k.resizeCondition(pod, corev1.PodResizeInProgress, "")
		return nil
	default:
		k.resizeCondition(pod, corev1.PodResizePending, reason)
		return nil
	}
	restarts = map[string]bool{}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if !differs(c, statuses) {
			continue
		}
		s := statuses[c.Name]
		restarts[c.Name] = slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
			return p.RestartPolicy == corev1.RestartContainer && changes(p.ResourceName, *s.Resources, c.Resources)
		})
		s.Resources = c.Resources.DeepCopy()
		statuses[c.Name] = s
	}
	return restarts
}

// differs tells whether a container that was started has other resources than its spec.
func differs(c *corev1.Container, statuses map[string]corev1.ContainerStatus) bool {
	s, found := statuses[c.Name]
	return found && s.Resources != nil && !equality.Semantic.DeepEqual(*s.Resources, c.Resources)
}

func changes(name corev1.ResourceName, before, after corev1.ResourceRequirements) bool {
	limit, request := before.Limits[name], before.Requests[name]
	return limit.Cmp(after.Limits[name]) != 0 || request.Cmp(after.Requests[name]) != 0
}

// resizeCondition sets the condition about a resize, and removes the other one; with an empty
// type it removes both.
func (k *Kubelet) resizeCondition(pod *corev1.Pod, t corev1.PodConditionType, reason string) {
	pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type != t && (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress)
	})
	if t == "" {
		return
	}
	c := k.SetCondition(pod, t, corev1.ConditionTrue)
	c.Reason, c.ObservedGeneration = reason, pod.Generation
}
