// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// NodePodProbeInterface reads and writes NodePodProbes, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type NodePodProbeInterface = typedclient.Interface[*v1alpha1.NodePodProbe, *v1alpha1.NodePodProbeList]

// NodePodProbes gives the client of the NodePodProbes.
func (c *Client) NodePodProbes() NodePodProbeInterface {
	return typedclient.New[v1alpha1.NodePodProbe, v1alpha1.NodePodProbeList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("nodepodprobes"), metav1.NamespaceNone)
}

// NewNodePodProbeInformer makes an informer of the NodePodProbes of the cluster. The
// caller starts it. Every resync period (0: never) it reports all objects to its
// handlers again. The indexers may be nil.
func NewNodePodProbeInformer(c Interface, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.NodePodProbes(), c, &v1alpha1.NodePodProbe{}, resync, indexers)
}

// NewFilteredNodePodProbeInformer is NewNodePodProbeInformer for a part of the objects,
// for example of a node. The filter sets selectors in the options of every list and
// watch.
func NewFilteredNodePodProbeInformer(c Interface, resync time.Duration, indexers cache.Indexers, filter func(*metav1.ListOptions)) cache.SharedIndexInformer {
	return typedclient.NewInformer(typedclient.Select(c.NodePodProbes(), filter), c, &v1alpha1.NodePodProbe{}, resync, indexers)
}

// NodePodProbeLister reads NodePodProbes from a cache, by the methods List and Get. What
// it returns must not be changed.
type NodePodProbeLister = typedclient.NamespaceLister[*v1alpha1.NodePodProbe]

// NewNodePodProbeLister makes a lister of an informer's cache (its GetIndexer).
func NewNodePodProbeLister(indexer cache.Indexer) NodePodProbeLister {
	return typedclient.NewLister[*v1alpha1.NodePodProbe](indexer, v1alpha1.Resource("nodepodprobe")).Namespace("")
}
