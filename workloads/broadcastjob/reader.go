// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	workloads.PodReader
	workloads.NodeReader
	// BroadcastJob returns a job, or an error for which apierrors.IsNotFound holds.
	BroadcastJob(namespace, name string) (*v1alpha1.BroadcastJob, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) BroadcastJob(namespace, name string) (*v1alpha1.BroadcastJob, error) {
	return caches.Get[*v1alpha1.BroadcastJob](r.Reader, resourceBroadcastJobs, namespace, name)
}
