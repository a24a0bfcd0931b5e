// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// apply applies a plan: at most one patch.
func (r *Reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if plan.Patch == nil {
		return plan.RequeueAfter, nil
	}
	changes, err := plan.Patch.Writes(s.Pod)
	if err != nil {
		return 0, err
	}
	for _, w := range changes {
		_, err := r.pods.Patch(ctx, s.Pod, w.Subresource, types.StrategicMergePatchType, w.Data)
		if apierrors.IsNotFound(err) {
			return 0, nil
		}
		if err != nil {
			return 0, fmt.Errorf("patch the status of pod %s/%s: %w", s.Pod.Namespace, s.Pod.Name, err)
		}
	}
	return plan.RequeueAfter, nil
}
