package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// NewImagePullJobInformer makes an informer that keeps a copy of the
// ImagePullJobs of a namespace; the empty namespace means all namespaces. The
// caller starts it.
//
// Every resync period (0: never) the informer reports all objects to its
// handlers again. The indexers may be nil; NewImagePullJobLister finds the
// objects of a namespace quickly only with the indexer
// cache.NamespaceIndex: cache.MetaNamespaceIndexFunc.
func NewImagePullJobInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.ImagePullJobs(namespace), c, &v1alpha1.ImagePullJob{}, resync, indexers)
}
