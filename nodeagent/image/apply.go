// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/images"
)

// writePause is the least time between two writes of the status: what happens
// meanwhile goes into one. (IMG-3.4)
const writePause = 2 * time.Second

// apply applies the plan. Pulls go on whatever becomes of the report.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	for _, a := range plan.Adopt {
		klog.FromContext(ctx).V(2).Info("A pull under way serves another version of its task", "image", a.Image, "tag", a.Tag, "version", a.Version)
		r.pulls.adopt(a)
	}
	for _, cancel := range plan.Cancel {
		klog.FromContext(ctx).Info("Stopped a pull", "image", cancel.Image, "tag", cancel.Tag, "reason", cancel.Reason)
		r.pulls.forget(cancel.Task, cancel.Reason)
	}
	for _, task := range plan.Forget {
		r.pulls.forget(task, "")
	}
	for i := range plan.Start {
		r.pulls.start(ctx, s.key, &plan.Start[i])
	}
	if plan.Status == nil {
		return plan.RequeueAfter, nil
	}
	if early := writePause - r.options.Clock.Since(r.lastWrite()); early > 0 {
		if plan.RequeueAfter > 0 {
			early = min(early, plan.RequeueAfter)
		}
		return early, nil
	}
	return plan.RequeueAfter, r.report(ctx, s.key, s, plan)
}

func (r *reconciler) lastWrite() time.Time {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.written
}

// report writes the status, with pauses if another writer takes it back. (CT-12)
func (r *reconciler) report(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Plan) error {
	difference, err := apply.Difference(&s.NodeImage.Status, plan.Status, false)
	if err != nil {
		return fmt.Errorf("report on NodeImage %s: %w", key.Name, err)
	}
	return r.writer.Own.Contests.PutBack(apiwriter.Write{Owner: key, Object: string(resourceNodeImages) + "/status", Wanted: difference,
		Send: func() error { return r.send(ctx, key, s, plan) },
		Tell: apiwriter.Warn(r.options.Recorder, s.NodeImage)}, r.options.Clock.Now)
}

// send writes the status, and then records how tasks have ended. The patch is
// for this NodeImage in any state: no other agent reports on it, but for tasks that are
// left alone.
func (r *reconciler) send(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Plan) error {
	type part struct {
		Status *v1alpha1.NodeImageStatus `json:"status"`
	}
	data, err := images.Patch(&metav1.ObjectMeta{UID: s.NodeImage.UID}, part{&s.NodeImage.Status}, part{plan.Status})
	if err != nil {
		return fmt.Errorf("report on NodeImage %s: %w", key.Name, err)
	}
	written, err := r.options.Distribution.NodeImages().Patch(ctx, key.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil // the cache will show it
	}
	if err != nil {
		err = fmt.Errorf("report on NodeImage %s: %w", key.Name, err)
		if !apierrors.IsConflict(err) {
			apiwriter.Warn(r.options.Recorder, s.NodeImage)("FailedUpdateStatus", apiwriter.Short(err.Error())) // (CT-11)
		}
		return err
	}
	r.writer.Own.Wrote(key, resourceNodeImages, written.ResourceVersion)
	r.lock.Lock()
	r.written = r.options.Clock.Now()
	r.lock.Unlock()
	for i := range plan.Finished {
		r.recordEvents(s.NodeImage, &plan.Finished[i])
	}
	return nil
}

// recordEvents records how a task ended. (IMG-3.3)
func (r *reconciler) recordEvents(n *v1alpha1.NodeImage, f *Finished) {
	if r.options.Recorder == nil {
		return
	}
	if !f.Failed {
		// The word is misspelt in every version; filters of events may know it so.
		r.options.Recorder.Eventf(n, corev1.EventTypeNormal, v1alpha1.ImagePullEventSucceed, "Image %s:%s, ecalpsedTime %v", f.Image, f.Tag, f.Took)
		return
	}
	r.options.Recorder.Eventf(n, corev1.EventTypeWarning, v1alpha1.ImagePullEventFailed, "Image %s:%s, %s", f.Image, f.Tag, f.Message)
	for i := range f.Owners {
		r.options.Recorder.Eventf(&f.Owners[i], corev1.EventTypeWarning, v1alpha1.ImagePullEventFailed, "Image %s:%s, %s on node %s",
			f.Image, f.Tag, f.messageFor(f.Owners[i].Namespace), n.Name)
	}
}
