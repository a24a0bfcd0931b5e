// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// PodProbeMarkerInterface reads and writes PodProbeMarkers, with
// the methods of client-go's clients: Create, Update, UpdateStatus, Delete,
// DeleteCollection, Get, List, Watch and Patch.
type PodProbeMarkerInterface = typedclient.Interface[*v1alpha1.PodProbeMarker, *v1alpha1.PodProbeMarkerList]

// PodProbeMarkers gives the client of the PodProbeMarkers of a
// namespace.
func (c *Client) PodProbeMarkers(namespace string) PodProbeMarkerInterface {
	return typedclient.New[v1alpha1.PodProbeMarker, v1alpha1.PodProbeMarkerList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("podprobemarkers"), namespace)
}

// NewPodProbeMarkerInformer makes an informer of the
// PodProbeMarkers of a namespace; the empty one means all namespaces. The
// caller starts it. Every resync period (0: never) it reports all objects to its
// handlers again. The indexers may be nil; listers are quick with
// cache.NamespaceIndex.
func NewPodProbeMarkerInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.PodProbeMarkers(namespace), c, &v1alpha1.PodProbeMarker{}, resync, indexers)
}

// NewFilteredPodProbeMarkerInformer is NewPodProbeMarkerInformer
// for a part of the objects, for example of a node. The filter sets selectors in the
// options of every list and watch.
func NewFilteredPodProbeMarkerInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers, filter func(*metav1.ListOptions)) cache.SharedIndexInformer {
	return typedclient.NewInformer(typedclient.Select(c.PodProbeMarkers(namespace), filter), c, &v1alpha1.PodProbeMarker{}, resync, indexers)
}

// PodProbeMarkerLister reads PodProbeMarkers from a cache, with
// the methods List and Namespace, which gives one with the methods List and Get.
// What they return must not be changed.
type PodProbeMarkerLister = typedclient.Lister[*v1alpha1.PodProbeMarker]

// NewPodProbeMarkerLister makes a lister of an informer's cache (its
// GetIndexer).
func NewPodProbeMarkerLister(indexer cache.Indexer) PodProbeMarkerLister {
	return typedclient.NewLister[*v1alpha1.PodProbeMarker](indexer, v1alpha1.Resource("podprobemarker"))
}
