package client

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// NodeImageLister reads NodeImages from a cache. What it returns belongs to the
// cache and must not be changed.
type NodeImageLister interface {
	// List lists the NodeImages whose labels match.
	List(selector labels.Selector) ([]*v1alpha1.NodeImage, error)
	// Get finds a NodeImage by name. A missing one is a NotFound error.
	Get(name string) (*v1alpha1.NodeImage, error)
}

// NewNodeImageLister makes a lister of an informer's cache (its GetIndexer).
func NewNodeImageLister(indexer cache.Indexer) NodeImageLister {
	return listers.New[*v1alpha1.NodeImage](indexer, v1alpha1.Resource("nodeimage"))
}
