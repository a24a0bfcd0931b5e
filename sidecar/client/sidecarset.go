// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// SidecarSetInterface reads and writes SidecarSets, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type SidecarSetInterface = typedclient.Interface[*v1alpha1.SidecarSet, *v1alpha1.SidecarSetList]

// SidecarSets gives the client of the SidecarSets.
func (c *Client) SidecarSets() SidecarSetInterface {
	return typedclient.New[v1alpha1.SidecarSet, v1alpha1.SidecarSetList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("sidecarsets"), metav1.NamespaceNone)
}

// NewSidecarSetInformer makes an informer of the SidecarSets of the cluster. The
// caller starts it. Every resync period (0: never) it reports all objects to its
// handlers again. The indexers may be nil.
func NewSidecarSetInformer(c Interface, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.SidecarSets(), c, &v1alpha1.SidecarSet{}, resync, indexers)
}

// SidecarSetLister reads SidecarSets from a cache, by the methods List and Get. What
// it returns must not be changed.
type SidecarSetLister = typedclient.NamespaceLister[*v1alpha1.SidecarSet]

// NewSidecarSetLister makes a lister of an informer's cache (its GetIndexer).
func NewSidecarSetLister(indexer cache.Indexer) SidecarSetLister {
	return typedclient.NewLister[*v1alpha1.SidecarSet](indexer, v1alpha1.Resource("sidecarset")).Namespace("")
}
