// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/lifecycle/client"
)

// patchReadiness names in errors what a pod is patched for.
const patchReadiness rollout.PatchKind = "Readiness"

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourceRequests, o.Recorder
	w.Merge = apiwriter.TypedMerge(o.Lifecycle.ContainerRecreateRequests)
	return w
}

// apply applies the plan, step by step, as far as the steps succeed.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if plan.Confirm {
		if s, err = r.confirm(ctx, s); err != nil {
			return 0, err
		}
		plan = NewPlan(s)
	}
	a := &applier{
		Sync: r.writer.Begin(s.Request), snapshot: s,
		requests: r.options.Lifecycle.ContainerRecreateRequests(s.Request.Namespace),
	}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		klog.FromContext(ctx).V(2).Info("Step", "reason", step.Why)
		goOn, err := a.write(ctx, step)
		if err != nil {
			return 0, err
		}
		if !goOn {
			return 0, nil
		}
	}
	return apply.Soonest(plan.RequeueAfter, plan.heldAfter, a.NoteHeld(a.Key, plan.Held, s.Now)), nil
}

// confirm asks the API server itself which pod there is.
func (r *reconciler) confirm(ctx context.Context, s *Snapshot) (*Snapshot, error) {
	confirmed := *s
	confirmed.Confirmed = true
	pod, err := r.options.Kubernetes.CoreV1().Pods(s.Request.Namespace).Get(ctx, s.Request.Spec.PodName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		confirmed.Pod = nil
	case err != nil:
		return nil, fmt.Errorf("read pod %s: %w", s.Request.Spec.PodName, err)
	default:
		confirmed.Pod = pod
	}
	return &confirmed, nil
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*apply.Sync
	snapshot *Snapshot
	requests client.ContainerRecreateRequestInterface
}

// write makes one write. It returns false if no further step must be
// made, since the request is gone.
func (a *applier) write(ctx context.Context, step *Step) (goOn bool, err error) {
	switch {
	case step.Status != nil:
		return true, a.WriteStatus(ctx, &a.snapshot.Request.Status, step.Status)
	case step.Change != nil:
		return a.patchRequest(ctx, step.Change)
	case step.Pod != nil:
		err := a.PatchPods(ctx, []rollout.PodPatch{{Pod: a.snapshot.Pod, Patch: step.Pod, Kind: patchReadiness}})
		if err != nil {
			a.RecordFailure(apply.Update, err)
		}
		return true, err
	}
	return false, a.deleteRequest(ctx)
}

func (a *applier) patchRequest(ctx context.Context, c *Change) (goOn bool, err error) {
	data, err := c.patch(a.snapshot.Request, a.Version)
	if err != nil {
		return false, err
	}
	err = a.PutBack("labels", apply.Wanted(data), func() error {
		goOn, err = a.sendChange(ctx, data)
		return err
	})
	return goOn, err
}

func (a *applier) sendChange(ctx context.Context, data []byte) (goOn bool, err error) {
	patched, err := a.requests.Patch(ctx, a.Key.Name, types.MergePatchType, data, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("patch ContainerRecreateRequest %s: %w", a.Key.Name, err)
		a.RecordFailure(apply.Update, err)
		return false, err
	}
	a.Wrote(resourceRequests, patched.ResourceVersion)
	return true, nil
}

// deleteRequest deletes the request, if it is still this one.
func (a *applier) deleteRequest(ctx context.Context) error {
	uid := a.snapshot.Request.UID
	err := a.requests.Delete(ctx, a.Key.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("delete ContainerRecreateRequest %s: %w", a.Key.Name, err)
		a.RecordFailure(apply.Delete, err)
		return err
	}
	return nil
}
