// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// BroadcastJobInterface reads and writes BroadcastJobs, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type BroadcastJobInterface = typedclient.Interface[*v1alpha1.BroadcastJob, *v1alpha1.BroadcastJobList]

// BroadcastJobs gives the client of the BroadcastJobs of a namespace.
func (c *Client) BroadcastJobs(namespace string) BroadcastJobInterface {
	return typedclient.New[v1alpha1.BroadcastJob, v1alpha1.BroadcastJobList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("broadcastjobs"), namespace)
}

// NewBroadcastJobInformer makes an informer of the BroadcastJobs of a namespace; the empty
// one means all namespaces. The caller starts it. Every resync period (0: never) it
// reports all objects to its handlers again. The indexers may be nil; listers are
// quick with cache.NamespaceIndex.
func NewBroadcastJobInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.BroadcastJobs(namespace), c, &v1alpha1.BroadcastJob{}, resync, indexers)
}

// BroadcastJobLister reads BroadcastJobs from a cache, with the methods List and Namespace,
// which gives one with the methods List and Get. What they return must not be
// changed.
type BroadcastJobLister = typedclient.Lister[*v1alpha1.BroadcastJob]

// NewBroadcastJobLister makes a lister of an informer's cache (its GetIndexer).
func NewBroadcastJobLister(indexer cache.Indexer) BroadcastJobLister {
	return typedclient.NewLister[*v1alpha1.BroadcastJob](indexer, v1alpha1.Resource("broadcastjob"))
}
