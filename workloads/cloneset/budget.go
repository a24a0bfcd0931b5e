// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Budget is asked before an update takes a pod out of service.
type Budget interface {
	// AllowUpdate tells whether the pod may become unavailable now. A refused
	// pod is asked about again a second later.
	AllowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error)
}
