// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DaemonSetInterface reads and writes DaemonSets, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type DaemonSetInterface = typedclient.Interface[*v1alpha1.DaemonSet, *v1alpha1.DaemonSetList]

// DaemonSets gives the client of the DaemonSets of a namespace.
func (c *Client) DaemonSets(namespace string) DaemonSetInterface {
	return typedclient.New[v1alpha1.DaemonSet, v1alpha1.DaemonSetList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("daemonsets"), namespace)
}

// NewDaemonSetInformer makes an informer of the DaemonSets of a namespace; the empty
// one means all namespaces. The caller starts it. Every resync period (0: never) it
// reports all objects to its handlers again. The indexers may be nil; listers are
// quick with cache.NamespaceIndex.
func NewDaemonSetInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.DaemonSets(namespace), c, &v1alpha1.DaemonSet{}, resync, indexers)
}

// DaemonSetLister reads DaemonSets from a cache, with the methods List and Namespace,
// which gives one with the methods List and Get. What they return must not be
// changed.
type DaemonSetLister = typedclient.Lister[*v1alpha1.DaemonSet]

// NewDaemonSetLister makes a lister of an informer's cache (its GetIndexer).
func NewDaemonSetLister(indexer cache.Indexer) DaemonSetLister {
	return typedclient.NewLister[*v1alpha1.DaemonSet](indexer, v1alpha1.Resource("daemonset"))
}
