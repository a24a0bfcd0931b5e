// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// EphemeralJobInterface reads and writes EphemeralJobs, with the methods of client-go's
// clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get, List, Watch and
// Patch.
type EphemeralJobInterface = typedclient.Interface[*v1alpha1.EphemeralJob, *v1alpha1.EphemeralJobList]

// EphemeralJobs gives the client of the EphemeralJobs of a namespace.
func (c *Client) EphemeralJobs(namespace string) EphemeralJobInterface {
	return typedclient.New[v1alpha1.EphemeralJob, v1alpha1.EphemeralJobList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("ephemeraljobs"), namespace)
}

// NewEphemeralJobInformer makes an informer of the EphemeralJobs of a namespace; the empty
// one means all namespaces. The caller starts it. Every resync period (0: never) it reports
// all objects to its handlers again. The indexers may be nil; listers are quick with
// cache.NamespaceIndex.
func NewEphemeralJobInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.EphemeralJobs(namespace), c, &v1alpha1.EphemeralJob{}, resync, indexers)
}

// EphemeralJobLister reads EphemeralJobs from a cache, with the methods List and Namespace,
// which gives one with the methods List and Get. What they return must not be changed.
type EphemeralJobLister = typedclient.Lister[*v1alpha1.EphemeralJob]

// NewEphemeralJobLister makes a lister of an informer's cache (its GetIndexer).
func NewEphemeralJobLister(indexer cache.Indexer) EphemeralJobLister {
	return typedclient.NewLister[*v1alpha1.EphemeralJob](indexer, v1alpha1.Resource("ephemeraljob"))
}
