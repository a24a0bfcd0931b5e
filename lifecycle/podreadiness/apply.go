// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
)

// apply applies a plan: at most one patch.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if plan.Patch == nil {
		return plan.RequeueAfter, nil
	}
	changes, err := plan.Patch.Writes(s.Pod)
	if err != nil {
		return 0, err
	}
	for _, w := range changes {
		// What another writer takes back is written again with pauses. (CT-12)
		if err := r.writer.Own.Contests.PutBack(apiwriter.Write{
			Owner: types.NamespacedName{Namespace: s.Pod.Namespace, Name: s.Pod.Name}, Object: "pods/" + w.Subresource, Wanted: apply.Wanted(w.Data),
			Send: func() error { return r.send(ctx, s, w) },
			Tell: apiwriter.Warn(r.writer.Recorder, s.Pod),
		}, r.options.Clock.Now); err != nil {
			return 0, err
		}
	}
	return plan.RequeueAfter, nil
}

// send patches the pod. One that is gone needs none.
func (r *reconciler) send(ctx context.Context, s *Snapshot, w podpatch.Write) error {
	_, err := r.pods.Patch(ctx, s.Pod, w.Subresource, types.StrategicMergePatchType, w.Data)
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	err = fmt.Errorf("patch the status of pod %s/%s: %w", s.Pod.Namespace, s.Pod.Name, err)
	if !apierrors.IsConflict(err) {
		apiwriter.Warn(r.writer.Recorder, s.Pod)("FailedUpdateStatus", apiwriter.Short(err.Error())) // (CT-11)
	}
	return err
}
