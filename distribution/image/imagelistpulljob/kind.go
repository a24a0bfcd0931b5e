// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// kind is what ImageListPullJobs are called.
const kind = "ImageListPullJob"

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceLists podwright.Resource = "imagelistpulljobs"
	resourceJobs  podwright.Resource = "imagepulljobs"
)

// reads lists what the plan for a job depends on.
func (o *Options) reads() []controller.Read {
	return []controller.Read{
		{Resource: resourceLists, Object: &v1alpha1.ImageListPullJob{}, LiveReader: apiwriter.Typed(o.Distribution.ImageListPullJobs), Informer: &o.ImageListPullJobs,
			MakeInformer: controller.Maker(client.NewImageListPullJobInformer, o.Distribution, o.Namespace), Fields: controller.Workload, IsReconciled: true},
		{Resource: resourceJobs, Object: &v1alpha1.ImagePullJob{}, LiveReader: apiwriter.Typed(o.Distribution.ImagePullJobs), Informer: &o.ImagePullJobs,
			MakeInformer: controller.Maker(client.NewImagePullJobInformer, o.Distribution, o.Namespace), Indexes: []podwright.Index{caches.ByOwner}, Fields: controller.Owners | controller.Generation | controller.Status, Concern: controller.On(jobChanged)},
	}
}

// jobChanged enqueues the jobs that control an ImagePullJob, or did before; before or after may be nil.
func jobChanged(before, after *v1alpha1.ImagePullJob, enqueue controller.Enqueue) {
	was, is := ownerOf(before), ownerOf(after)
	if was != nil && (is == nil || *was != *is) {
		enqueue(*was)
	}
	if is != nil {
		enqueue(*is)
	}
}

// ownerOf names the job that controls an ImagePullJob, which may be nil; nil if none does. Both versions of the kind are owners.
func ownerOf(job *v1alpha1.ImagePullJob) *types.NamespacedName {
	if job == nil {
		return nil
	}
	by := metav1.GetControllerOfNoCopy(job)
	if by == nil || by.Kind != kind {
		return nil
	}
	if version, err := schema.ParseGroupVersion(by.APIVersion); err != nil || version.Group != v1alpha1.GroupName {
		return nil
	}
	return &types.NamespacedName{Namespace: job.Namespace, Name: by.Name}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options   Options
	writer    *apply.Writer
	creations apply.Creations
	refusals  apiwriter.Last[map[string]string] // of images, why their ImagePullJobs could not be created
	reported  apiwriter.Last[time.Time]         // when the status was last written
}

// kind describes jobs to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: controller.HoldsOf(resourceJobs, func(s *Snapshot) []*v1alpha1.ImagePullJob { return s.Jobs }, controller.HoldsAll),
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.creations.Forget(key)
	r.refusals.Forget(key)
	r.reported.Forget(key)
}

// observe reads everything that a plan for the job depends on. It returns nil
// when the job does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	job, err := caches.Object[v1alpha1.ImageListPullJob](r.options.Reader, resourceLists, "ImageListPullJob", key)
	if job == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Job: job, Refused: r.refusals.Get(key), Reported: r.reported.Get(key), Now: r.options.Clock.Now()}
	if s.Jobs, err = caches.ControlledBy[*v1alpha1.ImagePullJob](r.options.Reader, resourceJobs, key.Namespace, job.UID); err != nil {
		return nil, fmt.Errorf("read the ImagePullJobs of ImageListPullJob %s: %w", key, err)
	}
	return s, nil
}
