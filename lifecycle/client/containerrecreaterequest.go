// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ContainerRecreateRequestInterface reads and writes ContainerRecreateRequests, with
// the methods of client-go's clients: Create, Update, UpdateStatus, Delete,
// DeleteCollection, Get, List, Watch and Patch.
type ContainerRecreateRequestInterface = typedclient.Interface[*v1alpha1.ContainerRecreateRequest, *v1alpha1.ContainerRecreateRequestList]

// ContainerRecreateRequests gives the client of the ContainerRecreateRequests of a
// namespace.
func (c *Client) ContainerRecreateRequests(namespace string) ContainerRecreateRequestInterface {
	return typedclient.New[v1alpha1.ContainerRecreateRequest, v1alpha1.ContainerRecreateRequestList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests"), namespace)
}

// NewContainerRecreateRequestInformer makes an informer of the
// ContainerRecreateRequests of a namespace; the empty one means all namespaces. The
// caller starts it. Every resync period (0: never) it reports all objects to its
// handlers again. The indexers may be nil; listers are quick with
// cache.NamespaceIndex.
func NewContainerRecreateRequestInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.ContainerRecreateRequests(namespace), c, &v1alpha1.ContainerRecreateRequest{}, resync, indexers)
}

// NewFilteredContainerRecreateRequestInformer is NewContainerRecreateRequestInformer
// for a part of the objects, for example of a node. The filter sets selectors in the
// options of every list and watch.
func NewFilteredContainerRecreateRequestInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers, filter func(*metav1.ListOptions)) cache.SharedIndexInformer {
	return typedclient.NewInformer(typedclient.Select(c.ContainerRecreateRequests(namespace), filter), c, &v1alpha1.ContainerRecreateRequest{}, resync, indexers)
}

// ContainerRecreateRequestLister reads ContainerRecreateRequests from a cache, with
// the methods List and Namespace, which gives one with the methods List and Get.
// What they return must not be changed.
type ContainerRecreateRequestLister = typedclient.Lister[*v1alpha1.ContainerRecreateRequest]

// NewContainerRecreateRequestLister makes a lister of an informer's cache (its
// GetIndexer).
func NewContainerRecreateRequestLister(indexer cache.Indexer) ContainerRecreateRequestLister {
	return typedclient.NewLister[*v1alpha1.ContainerRecreateRequest](indexer, v1alpha1.Resource("containerrecreaterequest"))
}
