// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// CronJob returns an AdvancedCronJob, or an error for which
	// apierrors.IsNotFound holds.
	CronJob(namespace, name string) (*v1alpha1.AdvancedCronJob, error)
	// Jobs returns the Jobs of the namespace that name the UID as an owner, in any order.
	Jobs(namespace string, owner types.UID) ([]*batchv1.Job, error)
	// BroadcastJobs returns the BroadcastJobs of the namespace that name the UID as
	// an owner, in any order.
	BroadcastJobs(namespace string, owner types.UID) ([]*v1alpha1.BroadcastJob, error)
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// Options.AllowStaleReads is set.
	SyncedResourceVersion(Resource) string
}

// informerReader reads informers.
type informerReader struct {
	caches.Stores
	cronJobs            client.AdvancedCronJobLister
	jobs, broadcastJobs cache.Indexer
}

func newInformerReader(o *Options) *informerReader {
	r := &informerReader{
		Stores:   controller.Stores(reads(o)),
		cronJobs: client.NewAdvancedCronJobLister(o.CronJobs.GetIndexer()),
		jobs:     o.Jobs.GetIndexer(),
	}
	if !o.NoBroadcastJobs {
		r.broadcastJobs = o.BroadcastJobs.GetIndexer()
	}
	return r
}

func (r *informerReader) CronJob(namespace, name string) (*v1alpha1.AdvancedCronJob, error) {
	return r.cronJobs.Namespace(namespace).Get(name)
}

func (r *informerReader) Jobs(_ string, owner types.UID) ([]*batchv1.Job, error) {
	return caches.OwnedBy[*batchv1.Job](r.jobs, owner)
}

func (r *informerReader) BroadcastJobs(_ string, owner types.UID) ([]*v1alpha1.BroadcastJob, error) {
	if r.broadcastJobs == nil {
		return nil, nil
	}
	return caches.OwnedBy[*v1alpha1.BroadcastJob](r.broadcastJobs, owner)
}
