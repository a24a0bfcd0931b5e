// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podstate"
)

// NativeSidecars is which images init containers have, and of native sidecars what Containers and ContainerStates are of
// containers.
const NativeSidecars Fields = 1 << 34

func nativesDiffer(before, after *corev1.Pod) bool {
	if !slices.EqualFunc(before.Spec.InitContainers, after.Spec.InitContainers, func(b, a corev1.Container) bool { return b.Image == a.Image }) {
		return true
	}
	for i := range after.Spec.InitContainers {
		c := &after.Spec.InitContainers[i]
		if !podstate.IsNative(c) {
			continue
		}
		b, a := podstate.LastingStatus(before, c.Name), podstate.LastingStatus(after, c.Name)
		if (b == nil) != (a == nil) || b != nil && !(sameContainer(b, a) && sameState(b, a)) {
			return true
		}
	}
	return false
}

// sameContainer tells whether it is the same container, with the same image, and as ready.
func sameContainer(b, a *corev1.ContainerStatus) bool {
	return b.Name == a.Name && b.Ready == a.Ready && b.Image == a.Image && b.ImageID == a.ImageID &&
		b.ContainerID == a.ContainerID && b.RestartCount == a.RestartCount
}

// sameState tells whether a container runs, or has ended in the same way.
func sameState(b, a *corev1.ContainerStatus) bool {
	return b.Name == a.Name && (b.State.Running == nil) == (a.State.Running == nil) &&
		(b.State.Terminated == nil) == (a.State.Terminated == nil) &&
		(b.State.Terminated == nil || b.State.Terminated.ExitCode == a.State.Terminated.ExitCode)
}
