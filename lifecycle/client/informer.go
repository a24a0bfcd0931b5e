package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// NewContainerRecreateRequestInformer makes an informer that keeps a copy of the
// ContainerRecreateRequests of a namespace; the empty namespace means all
// namespaces. The caller starts it.
//
// Every resync period (0: never) the informer reports all objects to its
// handlers again. The indexers may be nil; NewContainerRecreateRequestLister
// finds the objects of a namespace quickly only with the indexer
// cache.NamespaceIndex: cache.MetaNamespaceIndexFunc.
func NewContainerRecreateRequestInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.ContainerRecreateRequests(namespace), c, &v1alpha1.ContainerRecreateRequest{}, resync, indexers)
}

// NewFilteredContainerRecreateRequestInformer is
// NewContainerRecreateRequestInformer for a part of the objects, for example
// those of a node: the filter sets selectors in the options of every list and
// watch, and nothing else.
func NewFilteredContainerRecreateRequestInformer(
	c Interface, namespace string, resync time.Duration, indexers cache.Indexers, filter func(*metav1.ListOptions),
) cache.SharedIndexInformer {
	selected := typedclient.Selected[*v1alpha1.ContainerRecreateRequestList]{
		ListWatcher: c.ContainerRecreateRequests(namespace), Select: filter,
	}
	return typedclient.NewInformer(selected, c, &v1alpha1.ContainerRecreateRequest{}, resync, indexers)
}
