// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// NodeImageInterface reads and writes NodeImages, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type NodeImageInterface = typedclient.Interface[*v1alpha1.NodeImage, *v1alpha1.NodeImageList]

// NodeImages gives the client of the NodeImages.
func (c *Client) NodeImages() NodeImageInterface {
	return typedclient.New[v1alpha1.NodeImage, v1alpha1.NodeImageList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("nodeimages"), metav1.NamespaceNone)
}

// NewNodeImageInformer makes an informer of the NodeImages of the cluster. The
// caller starts it. Every resync period (0: never) it reports all objects to its
// handlers again. The indexers may be nil.
func NewNodeImageInformer(c Interface, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.NodeImages(), c, &v1alpha1.NodeImage{}, resync, indexers)
}

// NewFilteredNodeImageInformer is NewNodeImageInformer for a part of the objects, for example of a
// node. The filter sets selectors in the options of every list and watch.
func NewFilteredNodeImageInformer(c Interface, resync time.Duration, indexers cache.Indexers, filter func(*metav1.ListOptions)) cache.SharedIndexInformer {
	return typedclient.NewInformer(typedclient.Select(c.NodeImages(), filter), c, &v1alpha1.NodeImage{}, resync, indexers)
}

// NodeImageLister reads NodeImages from a cache, by the methods List and Get. What
// it returns must not be changed.
type NodeImageLister = typedclient.NamespaceLister[*v1alpha1.NodeImage]

// NewNodeImageLister makes a lister of an informer's cache (its GetIndexer).
func NewNodeImageLister(indexer cache.Indexer) NodeImageLister {
	return typedclient.NewLister[*v1alpha1.NodeImage](indexer, v1alpha1.Resource("nodeimage")).Namespace("")
}
