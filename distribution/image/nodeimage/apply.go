// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/images"
)

// newWriter returns what a Reconciler writes the status with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{
		Workloads: resourceNodeImages, Recorder: o.Recorder, Clock: o.Clock,
		Merge: apiwriter.TypedMerge(func(string) client.NodeImageInterface { return o.Distribution.NodeImages() }),
	}
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	nodeImage *v1alpha1.NodeImage
	plan      *Plan
}

// apply does what the plan says.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if s.NodeImage == nil {
		return plan.RequeueAfter, errors.Join(r.create(ctx, s.Node, plan.Create), r.puller.apply(ctx, s.key(), s, &plan.Pulls))
	}
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.NodeImage), nodeImage: s.NodeImage, plan: plan}
	switch {
	case plan.Delete:
		if err := r.puller.apply(ctx, a.Key, s, &plan.Pulls); err != nil {
			return 0, err
		}
		return a.delete(ctx, s.Node)
	case plan.Change != nil:
		return a.change(ctx)
	case plan.Status != nil:
		if err := a.status(ctx); err != nil {
			return 0, err
		}
	}
	err = r.puller.apply(ctx, a.Key, s, &plan.Pulls)
	if errors.Is(err, errRefused) {
		return controller.StaleRetry, nil
	}
	return plan.RequeueAfter, err
}

// create creates the NodeImage of a node, nil for none. If there is one already, the
// cache will show it.
func (r *reconciler) create(ctx context.Context, node *corev1.Node, n *v1alpha1.NodeImage) error {
	if n == nil {
		return nil
	}
	created, err := r.options.Distribution.NodeImages().Create(ctx, n, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("create NodeImage %s: %w", n.Name, err)
		if r.writer.Recorder != nil && node != nil {
			r.writer.Recorder.Event(node, corev1.EventTypeWarning, "FailedCreate", apiwriter.Short(err.Error())) // (CT-11)
		}
		return err
	}
	r.writer.Own.Wrote(types.NamespacedName{Name: n.Name}, resourceNodeImages, created.ResourceVersion)
	return nil
}

// delete deletes a NodeImage whose node is gone, or is going.
func (a *applier) delete(ctx context.Context, node *corev1.Node) (requeueAfter time.Duration, err error) {
	if node == nil {
		live, err := apiwriter.Found(a.options.Kubernetes.CoreV1().Nodes().Get(ctx, a.Key.Name, metav1.GetOptions{}))
		if err != nil {
			return 0, fmt.Errorf("find out whether node %s is gone: %w", a.Key.Name, err)
		}
		if live != nil && live.DeletionTimestamp == nil {
			return 0, &controller.Lag{Resource: caches.Nodes, Name: a.Key.Name}
		}
	}
	err = a.options.Distribution.NodeImages().Delete(ctx, a.Key.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &a.nodeImage.UID}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		err = fmt.Errorf("delete NodeImage %s, whose node is gone: %w", a.Key.Name, err)
		a.RecordFailure(apply.Delete, err)
		return 0, err
	}
	return 0, nil
}

// change writes labels and tasks. What else the plan says is for the next reconcile,
// on the state that this one leaves.
func (a *applier) change(ctx context.Context) (requeueAfter time.Duration, err error) {
	for _, owner := range a.plan.Gone {
		gone, err := a.isGone(ctx, owner)
		if err != nil {
			return 0, err
		}
		if !gone {
			return 0, &controller.Lag{Resource: resourceImagePullJobs, Name: fmt.Sprint(owner.Namespace, "/", owner.Name)}
		}
	}
	data, err := a.plan.Change.Patch(a.nodeImage)
	if err != nil {
		return 0, fmt.Errorf("change NodeImage %s: %w", a.Key.Name, err)
	}
	if err := a.PutBack("labels and tasks", apply.Wanted(data), func() error { return a.send(ctx, data) }); err != nil {
		return 0, err
	}
	if a.plan.Status != nil {
		return controller.StaleRetry, nil
	}
	return a.plan.RequeueAfter, nil
}

// send sends what changes labels and tasks.
func (a *applier) send(ctx context.Context, data []byte) error {
	version, err := a.Merge(ctx, a.Key, data)
	if apierrors.IsNotFound(err) {
		return nil // the cache will show it
	}
	if err != nil {
		err = fmt.Errorf("change NodeImage %s: %w", a.Key.Name, err)
		a.RecordFailure(apply.Update, err)
		return err
	}
	a.Wrote(resourceNodeImages, version)
	return nil
}

// isGone asks the API server whether a job is gone, once per job.
func (a *applier) isGone(ctx context.Context, owner corev1.ObjectReference) (bool, error) {
	return a.gone.find(ctx, owner.UID, func() (bool, error) {
		name, _ := images.TaskJob(owner)
		job, err := apiwriter.Found(a.options.Distribution.ImagePullJobs(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{}))
		if err != nil {
			return false, fmt.Errorf("find out whether ImagePullJob %s is gone: %w", name, err)
		}
		return job == nil || job.UID != owner.UID, nil
	})
}

// status writes which tasks have come to their end, and records events. (IMG-2.4, IMG-4.3)
func (a *applier) status(ctx context.Context) error {
	if err := a.WriteStatus(ctx, &a.nodeImage.Status, a.plan.Status); err != nil {
		return err
	}
	for _, f := range a.plan.Failed {
		message := fmt.Sprintf("Image %s:%s, %s", f.Image, f.Tag, f.Message)
		a.Event(corev1.EventTypeWarning, v1alpha1.ImagePullEventFailed, "%s", message)
		if a.writer.Recorder == nil {
			continue
		}
		for i := range f.Owners {
			a.writer.Recorder.Eventf(&f.Owners[i], corev1.EventTypeWarning, v1alpha1.ImagePullEventFailed, "%s on node %s", message, a.Key.Name)
		}
	}
	a.recordPulls()
	return nil
}

// recordPulls records how tasks have ended, in the words of agents. (IMG-3.3)
func (a *applier) recordPulls() {
	if a.writer.Recorder == nil {
		return
	}
	for _, s := range a.plan.Pulls.Succeeded {
		// The word is misspelt in every version; filters of events may know it so.
		a.Event(corev1.EventTypeNormal, v1alpha1.ImagePullEventSucceed, "Image %s:%s, ecalpsedTime %v", s.Image, s.Tag, s.Took)
	}
	for i := range a.plan.Pulls.Unpulled {
		u := &a.plan.Pulls.Unpulled[i]
		a.writer.Recorder.Eventf(&u.Job, corev1.EventTypeWarning, v1alpha1.ImagePullEventFailed, "Image %s:%s, %s on node %s", u.Image, u.Tag, u.Message, a.Key.Name)
	}
}
