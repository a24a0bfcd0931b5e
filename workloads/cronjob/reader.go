// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// CronJob returns an AdvancedCronJob, or an error for which
	// apierrors.IsNotFound holds.
	CronJob(namespace, name string) (*v1alpha1.AdvancedCronJob, error)
	// Jobs returns the Jobs of the namespace that the UID controls, in any order.
	Jobs(namespace string, owner types.UID) ([]*batchv1.Job, error)
	// BroadcastJobs returns the BroadcastJobs of the namespace that the UID
	// controls, in any order.
	BroadcastJobs(namespace string, owner types.UID) ([]*v1alpha1.BroadcastJob, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) CronJob(namespace, name string) (*v1alpha1.AdvancedCronJob, error) {
	return caches.Get[*v1alpha1.AdvancedCronJob](r.Reader, resourceCronJobs, namespace, name)
}

func (r informerReader) Jobs(_ string, owner types.UID) ([]*batchv1.Job, error) {
	return caches.ControlledBy[*batchv1.Job](r.Reader[resourceJobs], owner)
}

func (r informerReader) BroadcastJobs(_ string, owner types.UID) ([]*v1alpha1.BroadcastJob, error) {
	indexer, served := r.Reader[resourceBroadcastJobs]
	if !served {
		return nil, nil
	}
	return caches.ControlledBy[*v1alpha1.BroadcastJob](indexer, owner)
}
