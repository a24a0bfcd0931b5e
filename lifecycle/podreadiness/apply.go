// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
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
		// What another writer takes back is written again with pauses. (CT-12)
		key, wanted, contests := types.NamespacedName{Namespace: s.Pod.Namespace, Name: s.Pod.Name}, apply.Wanted(w.Data), &r.shell.Writes.Contests
		if contests.Waits(key, w.Subresource, wanted, s.Now) {
			return 0, apiwriter.NewContested(s.Pod.Name)
		}
		_, err := r.pods.Patch(ctx, s.Pod, w.Subresource, types.StrategicMergePatchType, w.Data)
		if apierrors.IsNotFound(err) {
			return 0, nil
		}
		if err != nil {
			err = fmt.Errorf("patch the status of pod %s/%s: %w", s.Pod.Namespace, s.Pod.Name, err)
			if r.options.Recorder != nil && !apierrors.IsConflict(err) {
				r.options.Recorder.Event(s.Pod, corev1.EventTypeWarning, "FailedUpdateStatus", apiwriter.Short(err.Error())) // (CT-11)
			}
			return 0, err
		}
		contests.Wrote(key, w.Subresource, wanted, s.Now)
	}
	return plan.RequeueAfter, nil
}
