// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// ResourceDistributionInterface reads and writes ResourceDistributions, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type ResourceDistributionInterface = typedclient.Interface[*v1alpha1.ResourceDistribution, *v1alpha1.ResourceDistributionList]

// ResourceDistributions gives the client of the ResourceDistributions.
func (c *Client) ResourceDistributions() ResourceDistributionInterface {
	return typedclient.New[v1alpha1.ResourceDistribution, v1alpha1.ResourceDistributionList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("resourcedistributions"), metav1.NamespaceNone)
}

// NewResourceDistributionInformer makes an informer of the ResourceDistributions of the
// cluster. The caller starts it. Every resync period (0: never) it reports all objects to
// its handlers again. The indexers may be nil.
func NewResourceDistributionInformer(c Interface, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.ResourceDistributions(), c, &v1alpha1.ResourceDistribution{}, resync, indexers)
}

// ResourceDistributionLister reads ResourceDistributions from a cache, by the methods List
// and Get. What it returns must not be changed.
type ResourceDistributionLister = typedclient.NamespaceLister[*v1alpha1.ResourceDistribution]

// NewResourceDistributionLister makes a lister of an informer's cache (its GetIndexer).
func NewResourceDistributionLister(indexer cache.Indexer) ResourceDistributionLister {
	return typedclient.NewLister[*v1alpha1.ResourceDistribution](indexer, v1alpha1.Resource("resourcedistribution")).Namespace("")
}
