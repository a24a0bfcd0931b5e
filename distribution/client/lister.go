package client

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// ImagePullJobLister reads ImagePullJobs from a cache. What it returns belongs
// to the cache and must not be changed.
type ImagePullJobLister interface {
	// List lists the ImagePullJobs of all namespaces whose labels match.
	List(selector labels.Selector) ([]*v1alpha1.ImagePullJob, error)
	// ImagePullJobs gives the lister of one namespace.
	ImagePullJobs(namespace string) ImagePullJobNamespaceLister
}

// ImagePullJobNamespaceLister reads the ImagePullJobs of one namespace from a cache.
type ImagePullJobNamespaceLister interface {
	// List lists the ImagePullJobs whose labels match.
	List(selector labels.Selector) ([]*v1alpha1.ImagePullJob, error)
	// Get finds an ImagePullJob by name. A missing one is a NotFound error.
	Get(name string) (*v1alpha1.ImagePullJob, error)
}

// NewImagePullJobLister makes a lister of an informer's cache (its GetIndexer).
func NewImagePullJobLister(indexer cache.Indexer) ImagePullJobLister {
	return imagePullJobLister{listers.New[*v1alpha1.ImagePullJob](indexer, v1alpha1.Resource("imagepulljob"))}
}

type imagePullJobLister struct {
	listers.ResourceIndexer[*v1alpha1.ImagePullJob]
}

func (l imagePullJobLister) ImagePullJobs(namespace string) ImagePullJobNamespaceLister {
	return listers.NewNamespaced(l.ResourceIndexer, namespace)
}
