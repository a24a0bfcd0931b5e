// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// CloneSetInterface reads and writes CloneSets, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type CloneSetInterface = typedclient.Interface[*v1alpha1.CloneSet, *v1alpha1.CloneSetList]

// CloneSets gives the client of the CloneSets of a namespace.
func (c *Client) CloneSets(namespace string) CloneSetInterface {
	return typedclient.New[v1alpha1.CloneSet, v1alpha1.CloneSetList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("clonesets"), namespace)
}

// NewCloneSetInformer makes an informer of the CloneSets of a namespace; the empty
// one means all namespaces. The caller starts it. Every resync period (0: never) it
// reports all objects to its handlers again. The indexers may be nil; listers are
// quick with cache.NamespaceIndex.
func NewCloneSetInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.CloneSets(namespace), c, &v1alpha1.CloneSet{}, resync, indexers)
}

// CloneSetLister reads CloneSets from a cache, with the methods List and Namespace,
// which gives one with the methods List and Get. What they return must not be
// changed.
type CloneSetLister = typedclient.Lister[*v1alpha1.CloneSet]

// NewCloneSetLister makes a lister of an informer's cache (its GetIndexer).
func NewCloneSetLister(indexer cache.Indexer) CloneSetLister {
	return typedclient.NewLister[*v1alpha1.CloneSet](indexer, v1alpha1.Resource("cloneset"))
}
