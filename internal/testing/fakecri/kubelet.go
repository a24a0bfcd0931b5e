// SPDX-License-Identifier: Apache-2.0

package fakecri

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/inplace"
)

// Kubelet plays the part of the kubelet of a node, one step per call. It knows
// pods that exist, and restarts containers whose image has changed or that have
// ended.
type Kubelet struct {
	// Client reaches the API server. Required.
	Client kubernetes.Interface
	// Runtime runs the containers. Required.
	Runtime *Runtime
}

// Sync makes one step for a pod: it starts containers that are missing,
// and writes down what there is. A pod that does not exist is no error.
func (k *Kubelet) Sync(ctx context.Context, namespace, name string) error {
	pod, err := k.Client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	before := pod.Status.DeepCopy()
	if err := k.Run(pod); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(before, &pod.Status) {
		return nil
	}
	_, err = k.Client.CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// Run starts the containers of a pod that do not run, and puts into its status
// what there is.
func (k *Kubelet) Run(pod *corev1.Pod) error {
	k.sandbox(pod)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.PodIP = podIP
	var statuses []corev1.ContainerStatus
	existing := k.Runtime.Containers()
	for i := range pod.Spec.Containers {
		c, err := k.run(pod, &pod.Spec.Containers[i], existing)
		if err != nil {
			return err
		}
		statuses = append(statuses, statusOf(c))
	}
	pod.Status.ContainerStatuses = statuses
	return nil
}

// podIP is the address of every pod.
const podIP = "10.0.0.7"

func (k *Kubelet) sandbox(pod *corev1.Pod) {
	k.Runtime.AddSandbox(&criv1.PodSandboxStatus{
		Id: sandboxID(pod), Network: &criv1.PodSandboxNetworkStatus{Ip: podIP},
		Metadata: &criv1.PodSandboxMetadata{Name: pod.Name, Namespace: pod.Namespace, Uid: string(pod.UID)},
		Labels: merged(pod.Labels, map[string]string{
			"io.kubernetes.pod.name": pod.Name, "io.kubernetes.pod.namespace": pod.Namespace, "io.kubernetes.pod.uid": string(pod.UID),
		}),
		Annotations: merged(map[string]string{"kubernetes.io/config.source": "api"}, pod.Annotations),
	})
}

// merged returns both maps in one; the second counts.
func merged(a, b map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

func sandboxID(pod *corev1.Pod) string { return "sandbox-" + string(pod.UID) }

// run returns the container that runs as the spec says, a new one if the
// last one does not.
func (k *Kubelet) run(pod *corev1.Pod, spec *corev1.Container, existing []Container) (Container, error) {
	wanted, err := hash(spec)
	if err != nil {
		return Container{}, err
	}
	restarts := 0
	for _, c := range existing {
		if c.SandboxID != sandboxID(pod) || c.Status.Metadata.Name != spec.Name {
			continue
		}
		running := c.Status.State == criv1.ContainerState_CONTAINER_RUNNING
		if running && c.Status.Annotations["io.kubernetes.container.hash"] == wanted {
			return c, nil
		}
		k.Runtime.End(c.Status.Id, 143)
		restarts++
	}
	c, err := ContainerOf(pod, spec, restarts)
	if err != nil {
		return Container{}, err
	}
	return k.Runtime.container(k.Runtime.Create(c))
}

// ContainerOf returns the container that the kubelet creates for a container of
// a pod's spec, after a number of restarts.
func ContainerOf(pod *corev1.Pod, spec *corev1.Container, restarts int) (Container, error) {
	wanted, err := hash(spec)
	if err != nil {
		return Container{}, err
	}
	annotations := map[string]string{
		"io.kubernetes.container.hash":         wanted,
		"io.kubernetes.container.restartCount": strconv.Itoa(restarts),
	}
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		annotations["io.kubernetes.pod.terminationGracePeriod"] = strconv.FormatInt(*pod.Spec.TerminationGracePeriodSeconds, 10)
	}
	if spec.Lifecycle != nil && spec.Lifecycle.PreStop != nil {
		hook, err := json.Marshal(spec.Lifecycle.PreStop)
		if err != nil {
			return Container{}, err
		}
		annotations["io.kubernetes.container.preStopHandler"] = string(hook)
	}
	if len(spec.Ports) > 0 {
		ports, err := json.Marshal(spec.Ports)
		if err != nil {
			return Container{}, err
		}
		annotations["io.kubernetes.container.ports"] = string(ports)
	}
	return Container{
		SandboxID: sandboxID(pod), env: environment(pod, spec),
		Status: &criv1.ContainerStatus{
			Metadata: &criv1.ContainerMetadata{Name: spec.Name, Attempt: uint32(restarts)},
			Image:    &criv1.ImageSpec{Image: spec.Image}, ImageRef: "sha256:" + spec.Image,
			Labels: map[string]string{
				"io.kubernetes.container.name": spec.Name, "io.kubernetes.pod.name": pod.Name,
				"io.kubernetes.pod.namespace": pod.Namespace, "io.kubernetes.pod.uid": string(pod.UID),
			},
			Annotations: annotations,
		},
	}, nil
}

// environment returns the variables that a container is created with.
func environment(pod *corev1.Pod, spec *corev1.Container) []string {
	out := []string{"PATH=/bin"}
	for _, env := range spec.Env {
		if env.ValueFrom == nil {
			out = append(out, env.Name+"="+env.Value)
		}
	}
	for _, env := range inplace.ExpectedEnv(pod, spec) {
		out = append(out, env.Name+"="+env.Value)
	}
	return out
}

// hash is the kubelet's, over name and image.
func hash(spec *corev1.Container) (string, error) {
	hashes, err := inplace.PlainHashes(spec)
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(hashes[len(hashes)-1], 16), nil
}

func statusOf(c Container) corev1.ContainerStatus {
	restarts, _ := strconv.Atoi(c.Status.Annotations["io.kubernetes.container.restartCount"])
	return corev1.ContainerStatus{
		Name: c.Status.Metadata.Name, ContainerID: defaultName + "://" + c.Status.Id, Ready: true, RestartCount: int32(restarts),
		Image: c.Status.Image.Image, ImageID: c.Status.ImageRef,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}
}
