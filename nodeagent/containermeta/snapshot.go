// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Snapshot is everything that a plan depends on. Its objects are shared with
// caches; nothing in this package changes them.
type Snapshot struct {
	// Pod is the pod. Required.
	Pod *corev1.Pod
	// Runtime is the name of the container runtime, "containerd" for example.
	Runtime string
	// Containers are those that the runtime has of the pod, in any order.
	Containers []*criv1.Container
	// Environments are those of containers that have been read, or that could
	// not be read, by the ID that the runtime has for the container.
	Environments map[string]Environment
	// Attempts tells of the containers that have to be restarted, by ID, since
	// when that is known and how often it was tried.
	Attempts map[string]Attempt
	// Now is the time for which to plan.
	Now time.Time
	// Features switches behaviour.
	Features Features
}

// Environment is the environment that a container was created with.
type Environment struct {
	// Values are the variables by name. Nil if Err is set.
	Values map[string]string
	// Err is why it could not be read, at the last of Failures tries.
	Err      error
	Failures int
	// RetryAt is when to try again.
	RetryAt time.Time
}

// Attempt tells of the restarts of one container.
type Attempt struct {
	// Count is the number of tries to stop the container.
	Count int
	// Last is when the last of them ended; before the first, when it was found
	// that the container has to be restarted.
	Last time.Time
}

// Both a restart and the reading of an environment that fails are tried again
// after firstRetry, and then after twice the time, up to lastRetry. The first
// restart waits for firstRetry, too: the kubelet has to learn of the new labels
// before it starts the container again.
const (
	firstRetry = 3 * time.Second
	lastRetry  = 10 * time.Minute
)

// retryAfter returns the time before the next try, after a number of tries.
func retryAfter(tries int) time.Duration {
	after := firstRetry
	for range tries {
		if after *= 2; after >= lastRetry {
			return lastRetry
		}
	}
	return after
}
