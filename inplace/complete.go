// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// Complete tells whether the pod has taken the whole of its last in-place
// update (IP-25), and if not, what it waits for. A pod that was never
// updated in place is complete. The error says which record of the pod cannot
// be read.
//
// It decodes the records of the pod; Refresh gives the same answer at less cost. It reads no clock, so unlike Refresh it does not wait
// until the kubelet asks the startup probe of a restarted container. (IP-45)
func Complete(pod *corev1.Pod) (bool, string, error) {
	state, waiting, err := running(pod)
	if err != nil || waiting != "" || state == nil {
		return err == nil && waiting == "", waiting, err
	}
	if names := putBack(pod, state); len(names) > 0 {
		return false, cameBack(pod, state, names), nil
	}
	is, waiting := resizing(pod, state)
	return is == ResizeNone, waiting, nil
}

// Consistent is Complete but for the cpu and memory of containers: it tells whether the
// containers run the images of the spec, and the environment. A pod that waits for its node
// to resize it is as good as before.
func Consistent(pod *corev1.Pod) (bool, string, error) {
	_, waiting, err := running(pod)
	return err == nil && waiting == "", waiting, err
}

// running says what keeps the containers from running what the last update in place of
// the pod has given them; empty when nothing does. The state is that of the update, nil
// if there was none.
func running(pod *corev1.Pod) (state *v1alpha1.State, waiting string, err error) {
	if InGrace(pod) {
		return nil, "the change waits for the end of the grace period", nil
	}
	if state, err = readState(pod); state == nil || err != nil {
		return nil, "", err
	}
	rest, _ := change{state.NextContainerImages, state.NextContainerRefMetadata}.known(pod)
	if !rest.empty() {
		return state, "containers wait for a later batch: " + strings.Join(rest.containers(), ", "), nil
	}
	waiting, err = containersWaiting(pod, state)
	return state, waiting, err
}

// containersWaiting says what keeps the containers changed so far from being
// complete (IP-24); empty when nothing does.
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
	names := recorded(state)
	if len(names) == 0 {
		return "", nil
	}
	if meta != nil && !behind(pod) {
		if name, err := firstMismatch(pod, meta, plainMatches); name == "" || err != nil {
			return "", err
		}
	}
	for _, name := range names {
		if _, later := state.NextContainerImages[name]; later {
			continue // Its image is replaced anyway, and may be one that never runs.
		}
		if waiting, err := imageWaiting(pod, name, state, meta); waiting != "" || err != nil {
			return waiting, err
		}
	}
	return "", nil
}

// recorded returns the names of the containers whose image was replaced, sorted.
func recorded(state *v1alpha1.State) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(state.LastContainerStatuses)), maps.Keys(state.LastContainers))
	slices.Sort(names)
	return slices.Compact(names)
}

// firstMismatch returns the name of the first container that does not run what the pod
// says, by the node agent's report and the given comparison. It is empty if all do.
func firstMismatch(
	pod *corev1.Pod, meta *v1alpha1.RuntimeContainersMeta,
	matches func(*corev1.Pod, *corev1.Container, v1alpha1.RuntimeContainerHashes) (bool, error),
) (string, error) {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		status, running := podstate.ContainerStatus(pod, c.Name), runtimeContainer(meta, c.Name)
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
