// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Barrier is what keeps a container from being created: a key that is not there.
type Barrier struct {
	// ConfigMap is the name of the ConfigMap, in the namespace of the pod.
	ConfigMap string
	// Key is the key in it that releases the container.
	Key string
	// Priority is the launch priority: the number in the key.
	Priority int
}

// ConfigMapName is the name of the ConfigMap whose keys release the containers
// of a pod.
func ConfigMapName(pod string) string { return pod + v1alpha1.ContainerBarrierConfigMapSuffix }

// Key is the key that releases the containers of a priority.
func Key(priority int) string {
	return v1alpha1.ContainerBarrierKeyPrefix + strconv.Itoa(priority)
}

// Of returns the barriers of a container in the order of its environment. They
// are nil if it has none, as containers have that were created without a launch
// priority. A reference whose key holds no integer is no barrier.
//
// There is rarely more than one. The kubelet waits for all of them.
func Of(c *corev1.Container) (barriers []Barrier) {
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if c.Env[i].Name != v1alpha1.ContainerBarrierEnv || from == nil || from.ConfigMapKeyRef == nil {
			continue
		}
		number, ok := strings.CutPrefix(from.ConfigMapKeyRef.Key, v1alpha1.ContainerBarrierKeyPrefix)
		if !ok {
			continue
		}
		if priority, err := strconv.Atoi(number); err == nil {
			barriers = append(barriers, Barrier{ConfigMap: from.ConfigMapKeyRef.Name, Key: from.ConfigMapKeyRef.Key, Priority: priority})
		}
	}
	return barriers
}

// Priority returns the launch priority that a container was created with; false
// if it has none. If it has several barriers, the last one counts, as it
// does for every environment variable.
func Priority(c *corev1.Container) (priority int, ok bool) {
	barriers := Of(c)
	if len(barriers) == 0 {
		return 0, false
	}
	return barriers[len(barriers)-1].Priority, true
}
