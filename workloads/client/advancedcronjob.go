// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// AdvancedCronJobInterface reads and writes AdvancedCronJobs, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type AdvancedCronJobInterface = typedclient.Interface[*v1alpha1.AdvancedCronJob, *v1alpha1.AdvancedCronJobList]

// AdvancedCronJobs gives the client of the AdvancedCronJobs of a namespace.
func (c *Client) AdvancedCronJobs(namespace string) AdvancedCronJobInterface {
	return typedclient.New[v1alpha1.AdvancedCronJob, v1alpha1.AdvancedCronJobList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("advancedcronjobs"), namespace)
}

// NewAdvancedCronJobInformer makes an informer of the AdvancedCronJobs of a namespace; the empty
// one means all namespaces. The caller starts it. Every resync period (0: never) it
// reports all objects to its handlers again. The indexers may be nil; listers are
// quick with cache.NamespaceIndex.
func NewAdvancedCronJobInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.AdvancedCronJobs(namespace), c, &v1alpha1.AdvancedCronJob{}, resync, indexers)
}

// AdvancedCronJobLister reads AdvancedCronJobs from a cache, with the methods List and Namespace,
// which gives one with the methods List and Get. What they return must not be
// changed.
type AdvancedCronJobLister = typedclient.Lister[*v1alpha1.AdvancedCronJob]

// NewAdvancedCronJobLister makes a lister of an informer's cache (its GetIndexer).
func NewAdvancedCronJobLister(indexer cache.Indexer) AdvancedCronJobLister {
	return typedclient.NewLister[*v1alpha1.AdvancedCronJob](indexer, v1alpha1.Resource("advancedcronjob"))
}
