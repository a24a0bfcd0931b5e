// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Budget is asked before an update of a pod, about one pod at a time. After it has refused one, it
// is only asked about pods whose annotation kruise.io/related-pub names another budget, and about
// pods that are not ready. The update may repair the latter. It is the same as the Budget of
// package workloads. (SCS-26, CT-10)
type Budget interface {
	// AllowUpdate tells whether the pod may become unavailable now. A refused
	// pod is asked about again a second later. An error allows nothing, also for
	// the other pods, and is reported as that of the update.
	AllowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error)
}
