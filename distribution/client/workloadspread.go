// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// WorkloadSpreadInterface reads and writes WorkloadSpreads, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type WorkloadSpreadInterface = typedclient.Interface[*v1alpha1.WorkloadSpread, *v1alpha1.WorkloadSpreadList]

// WorkloadSpreads gives the client of the WorkloadSpreads of a namespace.
func (c *Client) WorkloadSpreads(namespace string) WorkloadSpreadInterface {
	return typedclient.New[v1alpha1.WorkloadSpread, v1alpha1.WorkloadSpreadList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("workloadspreads"), namespace)
}

// NewWorkloadSpreadInformer makes an informer of the WorkloadSpreads of a namespace; the
// empty one means all namespaces. The caller starts it. Every resync period (0:
// never) it reports all objects to its handlers again. The indexers may be nil;
// listers are quick with cache.NamespaceIndex.
func NewWorkloadSpreadInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.WorkloadSpreads(namespace), c, &v1alpha1.WorkloadSpread{}, resync, indexers)
}

// WorkloadSpreadLister reads WorkloadSpreads from a cache, with the methods List and
// Namespace, which gives one with the methods List and Get. What they return must
// not be changed.
type WorkloadSpreadLister = typedclient.Lister[*v1alpha1.WorkloadSpread]

// NewWorkloadSpreadLister makes a lister of an informer's cache (its GetIndexer).
func NewWorkloadSpreadLister(indexer cache.Indexer) WorkloadSpreadLister {
	return typedclient.NewLister[*v1alpha1.WorkloadSpread](indexer, v1alpha1.Resource("workloadspread"))
}
