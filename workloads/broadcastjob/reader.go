// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

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
	// BroadcastJob returns a job. Where there is none, it returns an error for which
	// apierrors.IsNotFound holds.
	BroadcastJob(namespace, name string) (*v1alpha1.BroadcastJob, error)
	// Pods returns the pods of the namespace that name the UID as an owner, in any
	// order. Others beside them do no harm.
	Pods(namespace string, owner types.UID) ([]*corev1.Pod, error)
	// Nodes returns all nodes, in any order. Unfinished pods on nodes that are not
	// among them are deleted.
	Nodes() ([]*corev1.Node, error)
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// Options.AllowStaleReads is set.
	SyncedResourceVersion(Resource) string
}

type informerReader struct {
	caches.Stores
	caches.Owned
	jobs  client.BroadcastJobLister
	nodes corev1listers.NodeLister
}

func newInformerReader(o *Options) *informerReader {
	return &informerReader{
		Stores: controller.Stores(reads(o)),
		Owned:  caches.Owned{PodCache: o.Pods},
		jobs:   client.NewBroadcastJobLister(o.BroadcastJobs.GetIndexer()),
		nodes:  corev1listers.NewNodeLister(o.Nodes.GetIndexer()),
	}
}

func (r *informerReader) BroadcastJob(namespace, name string) (*v1alpha1.BroadcastJob, error) {
	return r.jobs.Namespace(namespace).Get(name)
}

func (r *informerReader) Nodes() ([]*corev1.Node, error) { return r.nodes.List(labels.Everything()) }
