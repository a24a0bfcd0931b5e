// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// kind is what AdvancedCronJobs are called.
const kind = "AdvancedCronJob"

// The caches that a Reconciler reads.
const (
	resourceCronJobs          podwright.Resource = "advancedcronjobs"
	resourceJobs              podwright.Resource = "jobs"
	resourceBroadcastJobs     podwright.Resource = "broadcastjobs"
	resourceImageListPullJobs podwright.Resource = "imagelistpulljobs"
)

// lastRetry is the longest back-off of a cron job whose reconciles fail: schedules
// count in minutes.
const lastRetry = time.Minute

// reads lists what the plan for a cron job depends on. Of annotations it reads one
// that no one else writes.
func (o *Options) reads() []controller.Read {
	reads := []controller.Read{
		{Resource: resourceCronJobs, Object: &v1alpha1.AdvancedCronJob{}, LiveReader: apiwriter.Typed(o.Workloads.AdvancedCronJobs), Informer: &o.CronJobs, MakeInformer: func() cache.SharedIndexInformer {
			return client.NewAdvancedCronJobInformer(o.Workloads, o.Namespace, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		}, Fields: cronJobFields, IsReconciled: true},
		{Resource: resourceJobs, Object: &batchv1.Job{}, LiveReader: jobs(o), Informer: &o.Jobs, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Jobs,
			Indexes: []podwright.Index{caches.ByOwner}, Fields: childFields, Concern: controller.On(childChanged(jobChild))},
	}
	if !o.NoBroadcastJobs {
		reads = append(reads, controller.Read{Resource: resourceBroadcastJobs, Object: &v1alpha1.BroadcastJob{}, LiveReader: apiwriter.Typed(o.Workloads.BroadcastJobs), Informer: &o.BroadcastJobs,
			MakeInformer: controller.Maker(client.NewBroadcastJobInformer, o.Workloads, o.Namespace), Indexes: []podwright.Index{caches.ByOwner}, Fields: childFields, Concern: controller.On(childChanged(broadcastJobChild))})
	}
	if o.Distribution != nil {
		reads = append(reads, controller.Read{Resource: resourceImageListPullJobs, Object: &distributionv1alpha1.ImageListPullJob{}, LiveReader: apiwriter.Typed(o.Distribution.ImageListPullJobs), Informer: &o.ImageListPullJobs,
			MakeInformer: controller.Maker(distributionclient.NewImageListPullJobInformer, o.Distribution, o.Namespace), Indexes: []podwright.Index{caches.ByOwner}, Fields: childFields, Concern: controller.On(childChanged(imageListPullJobChild))})
	}
	return reads
}

// cronJobFields are those that a plan reads of the cron job.
const cronJobFields = controller.Generation | controller.Status

// childFields are those in which a Child can differ.
const childFields = controller.Owners | controller.Annotations | controller.Status

// childChanged returns the function that enqueues the cron job of a job, if its
// plan may differ. That a job makes progress is no such change.
func childChanged[O metav1.Object](read func(O) Child) func(before, after O, enqueue controller.Enqueue) {
	return func(before, after O, enqueue controller.Enqueue) {
		was, is := ownerOf(before), ownerOf(after)
		if was == is {
			if is == noOwner {
				return
			}
			if b, a := read(before), read(after); b.same(&a) {
				return
			}
		}
		for _, of := range slices.Compact([]owner{was, is}) {
			if of != noOwner {
				enqueue(of.key)
			}
		}
	}
}

// owner is the cron job that controls a job; noOwner stands for none.
type owner struct {
	key types.NamespacedName
	uid types.UID
}

var noOwner owner

// ownerOf names the cron job of a job, which may be nil.
func ownerOf[O metav1.Object](job O) owner {
	if any(job) == any(*new(O)) {
		return noOwner
	}
	by := metav1.GetControllerOfNoCopy(job)
	if by == nil || by.Kind != kind {
		return noOwner
	}
	if version, err := schema.ParseGroupVersion(by.APIVersion); err != nil || version.Group != v1alpha1.GroupName {
		return noOwner
	}
	return owner{types.NamespacedName{Namespace: job.GetNamespace(), Name: by.Name}, by.UID}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options   Options
	clients   map[podwright.Resource]jobClient
	writer    *apply.Writer
	creations apply.Creations
	claims    apiwriter.Last[claim]
	refusals  apiwriter.Last[refused]
	notes     apiwriter.Last[noted]
	recorded  apiwriter.Last[recorded]
}

// kind describes cron jobs to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, clients: o.clients(), writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:     component,
		WrapLive: func(of apiwriter.Live) apiwriter.Live { return live{of, r} },
		Observe:  r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget, LastRetry: lastRetry,
		SnapshotHolds: func(s *Snapshot, resource podwright.Resource) func(string) bool {
			switch resource {
			case resourceJobs:
				return controller.Holds(s.Jobs)
			case resourceBroadcastJobs:
				return controller.Holds(s.BroadcastJobs)
			case resourceImageListPullJobs:
				return controller.Holds(s.ImageListPullJobs)
			}
			return controller.HoldsAll
		},
	}
}

// live reads jobs past all caches. One that is found need not be created any more,
// also if it is gone before a cache shows it.
type live struct {
	apiwriter.Live
	r *reconciler
}

func (l live) Read(ctx context.Context, namespace, name string) (metav1.Object, error) {
	object, err := l.Live.Read(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	if of := ownerOf(object); of != noOwner {
		c := childOf(object, "", "", nil)
		l.r.seen(of.key, of.uid, c.Scheduled)
	}
	return object, nil
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.creations.Forget(key)
	r.claims.Forget(key)
	r.refusals.Forget(key)
	r.notes.Forget(key)
	r.recorded.Forget(key)
}

// observe reads everything that a plan for the cron job depends on. It returns nil
// when the cron job does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	cronJob, err := caches.Object[v1alpha1.AdvancedCronJob](r.options.Reader, resourceCronJobs, "AdvancedCronJob", key)
	if cronJob == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{CronJob: cronJob, NoBroadcastJobs: r.options.NoBroadcastJobs, NoImageListPullJobs: r.options.Distribution == nil, Now: r.options.Clock.Now()}
	switch claim := r.claims.Get(key); {
	case claim.of != cronJob.UID:
	case !claim.created:
		s.Unstarted = claim.scheduled
	case s.refusedAt().Equal(claim.scheduled):
		s.Started = claim.scheduled
	}
	if note := r.notes.Get(key); note.of == cronJob.UID {
		s.Noted = note.value
	}
	if refused := r.refusals.Get(key); refused.is(cronJob) {
		s.Refused = &refused.Refusal
	}
	if s.Jobs, err = caches.ControlledBy[*batchv1.Job](r.options.Reader, resourceJobs, key.Namespace, cronJob.UID); err != nil {
		return nil, fmt.Errorf("read the Jobs of AdvancedCronJob %s: %w", key, err)
	}
	if s.BroadcastJobs, err = caches.ControlledBy[*v1alpha1.BroadcastJob](r.options.Reader, resourceBroadcastJobs, key.Namespace, cronJob.UID); err != nil {
		return nil, fmt.Errorf("read the BroadcastJobs of AdvancedCronJob %s: %w", key, err)
	}
	if s.ImageListPullJobs, err = caches.ControlledBy[*distributionv1alpha1.ImageListPullJob](r.options.Reader, resourceImageListPullJobs, key.Namespace, cronJob.UID); err != nil {
		return nil, fmt.Errorf("read the ImageListPullJobs of AdvancedCronJob %s: %w", key, err)
	}
	return s, nil
}

// clients returns what writes jobs, by what they are.
func (o *Options) clients() map[podwright.Resource]jobClient {
	all := map[podwright.Resource]jobClient{
		resourceJobs:          batchJobs{jobs(o), o.Kubernetes},
		resourceBroadcastJobs: typed(o.Workloads.BroadcastJobs),
	}
	if o.Distribution != nil {
		all[resourceImageListPullJobs] = typed(o.Distribution.ImageListPullJobs)
	}
	return all
}
