// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// ImagePullJobInterface reads and writes ImagePullJobs, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type ImagePullJobInterface = typedclient.Interface[*v1alpha1.ImagePullJob, *v1alpha1.ImagePullJobList]

// ImagePullJobs gives the client of the ImagePullJobs of a namespace.
func (c *Client) ImagePullJobs(namespace string) ImagePullJobInterface {
	return typedclient.New[v1alpha1.ImagePullJob, v1alpha1.ImagePullJobList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("imagepulljobs"), namespace)
}

// NewImagePullJobInformer makes an informer of the ImagePullJobs of a namespace; the
// empty one means all namespaces. The caller starts it. Every resync period (0:
// never) it reports all objects to its handlers again. The indexers may be nil;
// listers are quick with cache.NamespaceIndex.
func NewImagePullJobInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.ImagePullJobs(namespace), c, &v1alpha1.ImagePullJob{}, resync, indexers)
}

// ImagePullJobLister reads ImagePullJobs from a cache, with the methods List and
// Namespace, which gives one with the methods List and Get. What they return must
// not be changed.
type ImagePullJobLister = typedclient.Lister[*v1alpha1.ImagePullJob]

// NewImagePullJobLister makes a lister of an informer's cache (its GetIndexer).
func NewImagePullJobLister(indexer cache.Indexer) ImagePullJobLister {
	return typedclient.NewLister[*v1alpha1.ImagePullJob](indexer, v1alpha1.Resource("imagepulljob"))
}
