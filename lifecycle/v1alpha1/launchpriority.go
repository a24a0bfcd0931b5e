// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// LaunchPriorityAnnotation on a pod orders the start of its containers by
	// their order in the spec if its value is LaunchPriorityOrdered. Any
	// other value is ignored.
	LaunchPriorityAnnotation = "apps.kruise.io/container-launch-priority"
	// LaunchPriorityCompletedAnnotation on a pod, with the value "true", says that all keys for its containers have been
	// written. OpenKruise 1.6 and later write it, and do nothing more for such a pod.
	LaunchPriorityCompletedAnnotation = "apps.kruise.io/container-launch-priority-completed"
	// LaunchPriorityOrdered gives the containers the priorities 0, -1, -2 and
	// so on.
	LaunchPriorityOrdered = "Ordered"

	// ContainerPriorityEnv is the environment variable that gives a container
	// its launch priority: a decimal integer, written as a literal value.
	// Containers of a larger number start earlier. Default 0.
	ContainerPriorityEnv = "KRUISE_CONTAINER_PRIORITY"

	// ContainerBarrierEnv is the environment variable through which a container
	// with a launch priority waits for its turn. The key of its
	// configMapKeyRef is ContainerBarrierKeyPrefix followed by the priority.
	ContainerBarrierEnv = "KRUISE_CONTAINER_BARRIER"
	// ContainerBarrierKeyPrefix precedes the priority in the key that
	// ContainerBarrierEnv refers to.
	ContainerBarrierKeyPrefix = "p_"
	// ContainerBarrierConfigMapSuffix follows the name of a pod in the name of
	// the ConfigMap whose keys release its containers.
	ContainerBarrierConfigMapSuffix = "-barrier"
)
