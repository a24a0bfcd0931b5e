package client

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// CloneSetLister reads CloneSets from a cache. What it returns belongs to the
// cache and must not be changed.
type CloneSetLister interface {
	// List lists the CloneSets of all namespaces whose labels match.
	List(selector labels.Selector) ([]*v1alpha1.CloneSet, error)
	// CloneSets gives the lister of one namespace.
	CloneSets(namespace string) CloneSetNamespaceLister
}

// CloneSetNamespaceLister reads the CloneSets of one namespace from a cache.
type CloneSetNamespaceLister interface {
	// List lists the CloneSets whose labels match.
	List(selector labels.Selector) ([]*v1alpha1.CloneSet, error)
	// Get finds a CloneSet by name. A missing one is a NotFound error.
	Get(name string) (*v1alpha1.CloneSet, error)
}

// NewCloneSetLister makes a lister of an informer's cache (its GetIndexer).
func NewCloneSetLister(indexer cache.Indexer) CloneSetLister {
	return cloneSetLister{listers.New[*v1alpha1.CloneSet](indexer, v1alpha1.Resource("cloneset"))}
}

type cloneSetLister struct {
	listers.ResourceIndexer[*v1alpha1.CloneSet]
}

func (l cloneSetLister) CloneSets(namespace string) CloneSetNamespaceLister {
	return listers.NewNamespaced(l.ResourceIndexer, namespace)
}
