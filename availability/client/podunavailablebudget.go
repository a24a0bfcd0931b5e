// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// PodUnavailableBudgetInterface reads and writes PodUnavailableBudgets, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type PodUnavailableBudgetInterface = typedclient.Interface[*v1alpha1.PodUnavailableBudget, *v1alpha1.PodUnavailableBudgetList]

// PodUnavailableBudgets gives the client of the PodUnavailableBudgets of a namespace.
func (c *Client) PodUnavailableBudgets(namespace string) PodUnavailableBudgetInterface {
	return typedclient.New[v1alpha1.PodUnavailableBudget, v1alpha1.PodUnavailableBudgetList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("podunavailablebudgets"), namespace)
}

// NewPodUnavailableBudgetInformer makes an informer of the PodUnavailableBudgets of a namespace; the
// empty one means all namespaces. The caller starts it. Every resync period (0:
// never) it reports all objects to its handlers again. The indexers may be nil;
// listers are quick with cache.NamespaceIndex.
func NewPodUnavailableBudgetInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.PodUnavailableBudgets(namespace), c, &v1alpha1.PodUnavailableBudget{}, resync, indexers)
}

// PodUnavailableBudgetLister reads PodUnavailableBudgets from a cache, with the methods List and
// Namespace, which gives one with the methods List and Get. What they return must
// not be changed.
type PodUnavailableBudgetLister = typedclient.Lister[*v1alpha1.PodUnavailableBudget]

// NewPodUnavailableBudgetLister makes a lister of an informer's cache (its GetIndexer).
func NewPodUnavailableBudgetLister(indexer cache.Indexer) PodUnavailableBudgetLister {
	return typedclient.NewLister[*v1alpha1.PodUnavailableBudget](indexer, v1alpha1.Resource("podunavailablebudget"))
}
