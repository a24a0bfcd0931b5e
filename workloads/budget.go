// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Budget is asked before an update, in place or by recreation, takes a pod out of
// service: about one pod at a time, and about none after it has refused one.
type Budget interface {
	// AllowUpdate tells whether the pod may become unavailable now. A refused
	// pod is asked about again a second later. An error allows nothing, and is
	// reported as that of the update.
	AllowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error)
}
