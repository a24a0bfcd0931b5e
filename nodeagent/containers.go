// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Labels and annotations by which the kubelet describes a container to the
// runtime.
const (
	// ContainerNameLabel is the name of the container in the pod's spec.
	ContainerNameLabel = "io.kubernetes.container.name"
	// PodNameLabel, PodNamespaceLabel and PodUIDLabel name its pod.
	PodNameLabel      = "io.kubernetes.pod.name"
	PodNamespaceLabel = "io.kubernetes.pod.namespace"
	PodUIDLabel       = "io.kubernetes.pod.uid"

	// RestartCountAnnotation is how often the container has been restarted.
	RestartCountAnnotation = "io.kubernetes.container.restartCount"
	// HashAnnotation is the kubelet's hash of the container's spec, in hexadecimal.
	HashAnnotation = "io.kubernetes.container.hash"
	// PreStopAnnotation is the preStop hook, and PortsAnnotation the ports, as JSON.
	PreStopAnnotation = "io.kubernetes.container.preStopHandler"
	PortsAnnotation   = "io.kubernetes.container.ports"
	// TerminationGracePeriodAnnotation and DeletionGracePeriodAnnotation are
	// seconds: those of the pod's spec, and those that a deletion has set.
	TerminationGracePeriodAnnotation = "io.kubernetes.pod.terminationGracePeriod"
	DeletionGracePeriodAnnotation    = "io.kubernetes.pod.deletionGracePeriod"

	// configSourceAnnotation, of a sandbox, is where the kubelet has the pod from:
	// "api" for the API server.
	configSourceAnnotation = "kubernetes.io/config.source"
	configSourceAPI        = "api"
)

// PodIdentity says which pod is meant.
type PodIdentity struct {
	// Namespace, Name and UID are those of the pod.
	Namespace, Name string
	UID             types.UID
}

// PodOf returns the pod that the kubelet has written into the labels of a sandbox
// or a container. Labels of the pod itself cannot replace these.
func PodOf(labels map[string]string) PodIdentity {
	return PodIdentity{Namespace: labels[PodNamespaceLabel], Name: labels[PodNameLabel], UID: types.UID(labels[PodUIDLabel])}
}

// Static tells whether the kubelet runs the pod of a sandbox from a file or a URL
// of its own. What the API server has of it is a mirror.
func Static(sandbox *criv1.PodSandboxStatus) bool {
	annotations := sandbox.GetAnnotations()
	source, found := annotations[configSourceAnnotation]
	_, mirror := annotations[corev1.MirrorPodAnnotationKey]
	return found && source != configSourceAPI || mirror
}

// Newest returns the newest container of each name. The runtime keeps ended
// containers beside the one that took their place.
func Newest(containers []*criv1.Container) map[string]*criv1.Container {
	newest := make(map[string]*criv1.Container, len(containers))
	for _, c := range containers {
		name := containerName(c)
		if name != "" && newer(c, newest[name]) {
			newest[name] = c
		}
	}
	return newest
}

// newer tells whether a container was created after another one, nil for none.
// Two of the same nanosecond are told apart by their attempt, and at last by ID.
func newer(a, b *criv1.Container) bool {
	switch {
	case b == nil || a.GetCreatedAt() != b.GetCreatedAt():
		return b == nil || a.GetCreatedAt() > b.GetCreatedAt()
	case a.GetMetadata().GetAttempt() != b.GetMetadata().GetAttempt():
		return a.GetMetadata().GetAttempt() > b.GetMetadata().GetAttempt()
	}
	return a.GetId() > b.GetId()
}

// containerName returns the name that a container has in its pod's spec, empty
// if the kubelet did not create it.
func containerName(c *criv1.Container) string { return c.GetLabels()[ContainerNameLabel] }

// RestartCount returns how often a container had been restarted when it was
// created. It fails if the kubelet did not say so.
func RestartCount(c *criv1.Container) (int32, error) {
	text := c.GetAnnotations()[RestartCountAnnotation]
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("container %s: annotation %s is %q: want a decimal number", c.GetId(), RestartCountAnnotation, text)
	}
	return int32(n), nil
}

// KubeletHash returns the kubelet's hash of the spec that a container was
// created from. It fails if the kubelet did not say so.
func KubeletHash(c *criv1.Container) (uint64, error) {
	text := c.GetAnnotations()[HashAnnotation]
	hash, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("container %s: annotation %s is %q: want a hexadecimal number", c.GetId(), HashAnnotation, text)
	}
	return hash, nil
}

// ContainerID returns the ID of a container as the status of a pod has it:
// containerd://4fa6.
func ContainerID(runtime, id string) string { return runtime + "://" + id }

// SplitContainerID splits the ID of a container in the status of a pod into the
// name of the runtime and the ID there.
func SplitContainerID(containerID string) (runtime, id string, ok bool) {
	runtime, id, ok = strings.Cut(containerID, "://")
	return runtime, id, ok && runtime != "" && id != ""
}
