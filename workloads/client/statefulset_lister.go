package client

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// StatefulSetLister reads StatefulSets from a cache. What it returns belongs to the
// cache and must not be changed.
type StatefulSetLister interface {
	// List lists the StatefulSets of all namespaces whose labels match.
	List(selector labels.Selector) ([]*v1beta1.StatefulSet, error)
	// StatefulSets gives the lister of one namespace.
	StatefulSets(namespace string) StatefulSetNamespaceLister
}

// StatefulSetNamespaceLister reads the StatefulSets of one namespace from a cache.
type StatefulSetNamespaceLister interface {
	// List lists the StatefulSets whose labels match.
	List(selector labels.Selector) ([]*v1beta1.StatefulSet, error)
	// Get finds a StatefulSet by name. A missing one is a NotFound error.
	Get(name string) (*v1beta1.StatefulSet, error)
}

// NewStatefulSetLister makes a lister of an informer's cache (its GetIndexer).
func NewStatefulSetLister(indexer cache.Indexer) StatefulSetLister {
	return statefulSetLister{listers.New[*v1beta1.StatefulSet](indexer, v1beta1.Resource("statefulset"))}
}

type statefulSetLister struct {
	listers.ResourceIndexer[*v1beta1.StatefulSet]
}

func (l statefulSetLister) StatefulSets(namespace string) StatefulSetNamespaceLister {
	return listers.NewNamespaced(l.ResourceIndexer, namespace)
}
