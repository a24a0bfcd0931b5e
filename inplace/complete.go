package inplace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// Complete tells whether the pod has taken the whole of its last in-place
// update (inplace rule 25), and if not, what it waits for. A pod that was never
// updated in place is complete. The error says which record of the pod cannot
// be read.
//
// It decodes the records of the pod; Refresh gives the same answer at less cost.
func Complete(pod *corev1.Pod) (bool, string, error) {
	if InGrace(pod) {
		return false, "the change waits for the end of the grace period", nil
	}
	state, err := readState(pod)
	if err != nil {
		return false, "", err
	}
	if state == nil {
		return true, "", nil
	}
	rest, _ := change{state.NextContainerImages, state.NextContainerRefMetadata}.known(pod)
	if !rest.empty() {
		return false, "containers wait for a later batch: " + strings.Join(rest.containers(), ", "), nil
	}
	waiting, err := containersWaiting(pod, state)
	return err == nil && waiting == "", waiting, err
}

// containersWaiting says what keeps the containers changed so far from being
// complete (inplace rule 24); empty when nothing does.
func containersWaiting(pod *corev1.Pod, state *v1alpha1.State) (string, error) {
	meta, err := readMeta(pod)
	if err != nil {
		return "", err
	}
	if state.UpdateEnvFromMetadata {
		if meta == nil {
			return "the environment changes with labels or annotations, and no node agent has reported on the containers", nil
		}
		if name, err := firstMismatch(pod, meta, envMatches); name != "" || err != nil {
			return fmt.Sprintf("container %s: not yet restarted with the environment of the new labels and annotations", name), err
		}
	}
	if len(state.LastContainerStatuses) == 0 {
		return "", nil
	}
	if meta != nil {
		if name, err := firstMismatch(pod, meta, plainMatches); name == "" || err != nil {
			return "", err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(state.LastContainerStatuses)) {
		if _, later := state.NextContainerImages[name]; later {
			continue // Its image is replaced anyway, and may be one that never runs.
		}
		if waiting := imageWaiting(pod, name, state.LastContainerStatuses[name]); waiting != "" {
			return waiting, nil
		}
	}
	return "", nil
}

// imageWaiting says why a container does not run its new image yet; empty when
// it does. The same image ID under another name needs no restart, only that
// the kubelet has taken note of the name.
func imageWaiting(pod *corev1.Pod, name string, last v1alpha1.ContainerStatus) string {
	status := containerStatus(pod, name)
	if status == nil {
		return fmt.Sprintf("container %s: no status is reported", name)
	}
	if status.ImageID != last.ImageID {
		return ""
	}
	c := container(pod, name)
	if c != nil && sameImage(c.Image, status.Image) {
		return ""
	}
	return fmt.Sprintf("container %s: still runs image %s", name, status.Image)
}

// firstMismatch returns the name of the first container that the node agent's
// report does not show to run what the pod says, by the given comparison;
// empty when all do.
func firstMismatch(
	pod *corev1.Pod, meta *v1alpha1.RuntimeContainersMeta,
	matches func(*corev1.Pod, *corev1.Container, v1alpha1.RuntimeContainerHashes) (bool, error),
) (string, error) {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		status, running := containerStatus(pod, c.Name), runtimeContainer(meta, c.Name)
		if status == nil || running == nil || status.ContainerID != running.ContainerID {
			return c.Name, nil
		}
		if ok, err := matches(pod, c, running.Hashes); !ok || err != nil {
			return c.Name, err
		}
	}
	return "", nil
}

func runtimeContainer(meta *v1alpha1.RuntimeContainersMeta, name string) *v1alpha1.RuntimeContainer {
	for i := range meta.Containers {
		if meta.Containers[i].Name == name {
			return &meta.Containers[i]
		}
	}
	return nil
}

func envMatches(pod *corev1.Pod, c *corev1.Container, hashes v1alpha1.RuntimeContainerHashes) (bool, error) {
	want, err := EnvHash(ExpectedEnv(pod, c))
	return want == hashes.ExtractedEnvFromMetadataHash, err
}

func plainMatches(_ *corev1.Pod, c *corev1.Container, hashes v1alpha1.RuntimeContainerHashes) (bool, error) {
	want, err := PlainHashes(c)
	return slices.Contains(want, hashes.PlainHash), err
}
