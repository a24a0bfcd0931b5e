// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// Kubelet plays the part of scheduler and kubelet, one step per call. It
// starts containers, restarts those whose image has changed, reports readiness
// and ends pods that are being deleted.
type Kubelet struct {
	// Client reaches the server. Required.
	Client kubernetes.Interface
	// Server is written directly if it is set, which is several times quicker.
	// The requests are not in its log then, and cannot fail.
	Server *Server
	// Clock gives the times in the status. Default: the real one.
	Clock clock.PassiveClock
	// Broken tells which images do not become ready. Default: none.
	Broken func(image string) bool
	// Unready tells which containers are not ready, whatever their image. Default: none.
	Unready func(container string) bool
	// Unpullable tells which images cannot be pulled: a container that is to change to one
	// stops, and stays. Default: none.
	Unpullable func(image string) bool
	// Leaves tells which containers the step leaves as they are, as when a kubelet has not
	// come to them yet. Default: none.
	Leaves func(container string) bool
	// Resize decides about the cpu and memory that a pod is to have, which differ from those that
	// it has. Empty gives them, ResizeInProgress does so later, and PodReasonDeferred or
	// PodReasonInfeasible say why not. Default: the node resizes no pod, and does not report
	// what containers have.
	Resize func(pod *corev1.Pod) (reason string)
	// Schedule finds a node for a pod; empty if there is none. Default: the one that it
	// names, or one of its own.
	Schedule func(pod *corev1.Pod) string
}

// conflictRetries is how often a pod is read anew that others change meanwhile.
const conflictRetries = 10

// SyncAll makes one step for every pod of a namespace.
func (k *Kubelet) SyncAll(ctx context.Context, namespace string) error {
	pods, err := k.list(ctx, namespace)
	if err != nil {
		return err
	}
	for i := range pods {
		err := k.sync(ctx, &pods[i])
		for tries := 0; tries < conflictRetries && apierrors.IsConflict(err); tries++ {
			err = k.Sync(ctx, namespace, pods[i].Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *Kubelet) list(ctx context.Context, namespace string) ([]corev1.Pod, error) {
	if k.Server != nil {
		return k.Server.Pods(namespace)
	}
	list, err := k.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Sync makes one step for a pod. A pod that does not exist is no error.
func (k *Kubelet) Sync(ctx context.Context, namespace, name string) error {
	pod, err := k.read(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return k.sync(ctx, pod)
}

func (k *Kubelet) read(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	if k.Server != nil {
		return k.Server.readPod(namespace, name)
	}
	return k.Client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (k *Kubelet) write(ctx context.Context, pod *corev1.Pod) error {
	if k.Server != nil {
		return k.Server.writePodStatus(pod)
	}
	_, err := k.Client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// SyncPod makes one step for a pod as it was read last, which stays unchanged.
func (k *Kubelet) SyncPod(ctx context.Context, pod *corev1.Pod) error {
	return k.sync(ctx, pod.DeepCopy())
}

func (k *Kubelet) sync(ctx context.Context, pod *corev1.Pod) error {
	pods := k.Client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		now := int64(0)
		return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
		})
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return nil
	case pod.Spec.NodeName == "":
		node := cmp.Or(scheduler.NodeOf(pod), "node-"+pod.Name)
		if k.Schedule != nil {
			if node = k.Schedule(pod); node == "" {
				return nil
			}
		}
		binding := &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}
		if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
		return k.Sync(ctx, pod.Namespace, pod.Name)
	}
	before := pod.Status.DeepCopy()
	unconfigured, err := k.unconfigured(ctx, pod)
	if err != nil {
		return err
	}
	k.run(pod, unconfigured)
	if equality.Semantic.DeepEqual(before, &pod.Status) {
		return nil
	}
	return k.write(ctx, pod)
}

// Run brings the status of a pod to what its spec says, without a server. Init containers that end are not reported on.
func (k *Kubelet) Run(pod *corev1.Pod) {
	k.run(pod, nil)
	pod.Status.ObservedGeneration = pod.Generation
}

// Recompute gives a pod the conditions that the statuses of its containers and its gates ask for.
func (k *Kubelet) Recompute(pod *corev1.Pod) {
	k.report(pod, !slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses),
		func(s corev1.ContainerStatus) bool { return !s.Ready }))
}

// run is Run; containers that are unconfigured do not start.
func (k *Kubelet) run(pod *corev1.Pod, unconfigured map[string]bool) {
	old := map[string]corev1.ContainerStatus{}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		old[s.Name] = s
	}
	if pod.Annotations[corev1.MirrorPodAnnotationKey] != "" && len(old) > 0 {
		return // it runs what its file says, whatever the API server is told
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = nil, nil
	containers := true
	resized := k.resize(pod, old)
	runAll := func(all []corev1.Container, statuses *[]corev1.ContainerStatus) {
		for i := range all {
			s, reported := k.runOne(pod, &all[i], old, unconfigured, resized)
			if containers = containers && s.Ready; reported {
				*statuses = append(*statuses, s)
			}
		}
	}
	runAll(slices.DeleteFunc(slices.Clone(pod.Spec.InitContainers), func(c corev1.Container) bool { return !native(&c) }), &pod.Status.InitContainerStatuses)
	runAll(pod.Spec.Containers, &pod.Status.ContainerStatuses)
	k.report(pod, containers)
}

// native tells whether an init container goes on while the pod runs.
func native(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// runOne brings a container to what the spec says, and tells whether there is anything to report on it.
func (k *Kubelet) runOne(pod *corev1.Pod, c *corev1.Container, old map[string]corev1.ContainerStatus, unconfigured, resized map[string]bool) (s corev1.ContainerStatus, reported bool) {
	s, reported = old[c.Name]
	ran := s.ContainerID != ""
	if k.Leaves != nil && k.Leaves(c.Name) {
		return s, reported
	}
	if reason := k.stops(c, unconfigured); reason != "" && (!ran || s.Image != c.Image) {
		return waiting(s, c, reason), true
	}
	var was *corev1.ContainerStatus
	if starts := !ran || resized[c.Name] || s.Image != c.Image || s.State.Waiting != nil; starts {
		was = s.DeepCopy()
		if ran {
			s.RestartCount++
		}
		s.ContainerID = fmt.Sprintf("fakecluster://%s-%s-%d", pod.UID, c.Name, s.RestartCount)
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(k.clock().Now())}}
	}
	if k.Resize != nil && (s.Resources == nil || !ran) {
		s.Resources = c.Resources.DeepCopy()
	}
	s.Name, s.Image, s.ImageID = c.Name, c.Image, "sha256:"+c.Image
	s.Ready = k.works(c.Image, c.Name)
	startup(c, &s, was, k.clock().Now())
	return s, true
}

// stops says why a container cannot be created; empty if it can.
func (k *Kubelet) stops(c *corev1.Container, unconfigured map[string]bool) string {
	switch {
	case unconfigured[c.Name]:
		return "CreateContainerConfigError"
	case k.Unpullable != nil && k.Unpullable(c.Image):
		return "ImagePullBackOff"
	}
	return ""
}

func gatesOpen(pod *corev1.Pod) bool {
	for _, gate := range pod.Spec.ReadinessGates {
		if c := condition(pod, gate.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			return false
		}
	}
	return true
}

// report sets the conditions of a pod whose containers are all ready, or not.
func (k *Kubelet) report(pod *corev1.Pod, containers bool) {
	status := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}
	k.SetCondition(pod, corev1.ContainersReady, status[containers])
	k.SetCondition(pod, corev1.PodReady, status[containers && gatesOpen(pod)])
}

// SetCondition gives a condition a status, and returns it. It loses all else when that changes.
func (k *Kubelet) SetCondition(pod *corev1.Pod, t corev1.PodConditionType, status corev1.ConditionStatus) *corev1.PodCondition {
	c := condition(pod, t)
	if c == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t})
		c = &pod.Status.Conditions[len(pod.Status.Conditions)-1]
	}
	if c.Status != status {
		*c = corev1.PodCondition{Type: t, Status: status, LastTransitionTime: metav1.NewTime(k.clock().Now())}
	}
	return c
}

func (k *Kubelet) clock() clock.PassiveClock {
	if k.Clock == nil {
		return clock.RealClock{}
	}
	return k.Clock
}

func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
