package client

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ContainerRecreateRequestLister reads ContainerRecreateRequests from a cache.
// What it returns belongs to the cache and must not be changed.
type ContainerRecreateRequestLister interface {
	// List lists the ContainerRecreateRequests of all namespaces whose labels
	// match.
	List(selector labels.Selector) ([]*v1alpha1.ContainerRecreateRequest, error)
	// ContainerRecreateRequests gives the lister of one namespace.
	ContainerRecreateRequests(namespace string) ContainerRecreateRequestNamespaceLister
}

// ContainerRecreateRequestNamespaceLister reads the ContainerRecreateRequests of
// one namespace from a cache.
type ContainerRecreateRequestNamespaceLister interface {
	// List lists the ContainerRecreateRequests whose labels match.
	List(selector labels.Selector) ([]*v1alpha1.ContainerRecreateRequest, error)
	// Get finds a ContainerRecreateRequest by name. A missing one is a NotFound error.
	Get(name string) (*v1alpha1.ContainerRecreateRequest, error)
}

// NewContainerRecreateRequestLister makes a lister of an informer's cache (its
// GetIndexer).
func NewContainerRecreateRequestLister(indexer cache.Indexer) ContainerRecreateRequestLister {
	return requestLister{listers.New[*v1alpha1.ContainerRecreateRequest](indexer, v1alpha1.Resource("containerrecreaterequest"))}
}

type requestLister struct {
	listers.ResourceIndexer[*v1alpha1.ContainerRecreateRequest]
}

func (l requestLister) ContainerRecreateRequests(namespace string) ContainerRecreateRequestNamespaceLister {
	return listers.NewNamespaced(l.ResourceIndexer, namespace)
}
