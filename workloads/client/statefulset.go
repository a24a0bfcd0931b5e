// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// StatefulSetInterface reads and writes StatefulSets, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type StatefulSetInterface = typedclient.Interface[*v1beta1.StatefulSet, *v1beta1.StatefulSetList]

// StatefulSets gives the client of the StatefulSets of a namespace.
func (c *Client) StatefulSets(namespace string) StatefulSetInterface {
	return typedclient.New[v1beta1.StatefulSet, v1beta1.StatefulSetList](c.backend, v1beta1.SchemeGroupVersion.WithResource("statefulsets"), namespace)
}

// NewStatefulSetInformer makes an informer of the StatefulSets of a namespace; the
// empty one means all namespaces. The caller starts it. Every resync period (0:
// never) it reports all objects to its handlers again. The indexers may be nil;
// listers are quick with cache.NamespaceIndex.
func NewStatefulSetInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.StatefulSets(namespace), c, &v1beta1.StatefulSet{}, resync, indexers)
}

// StatefulSetLister reads StatefulSets from a cache, with the methods List and
// Namespace, which gives one with the methods List and Get. What they return must
// not be changed.
type StatefulSetLister = typedclient.Lister[*v1beta1.StatefulSet]

// NewStatefulSetLister makes a lister of an informer's cache (its GetIndexer).
func NewStatefulSetLister(indexer cache.Indexer) StatefulSetLister {
	return typedclient.NewLister[*v1beta1.StatefulSet](indexer, v1beta1.Resource("statefulset"))
}
