// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// UnitedDeploymentInterface reads and writes UnitedDeployments, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type UnitedDeploymentInterface = typedclient.Interface[*v1alpha1.UnitedDeployment, *v1alpha1.UnitedDeploymentList]

// UnitedDeployments gives the client of the UnitedDeployments of a namespace.
func (c *Client) UnitedDeployments(namespace string) UnitedDeploymentInterface {
	return typedclient.New[v1alpha1.UnitedDeployment, v1alpha1.UnitedDeploymentList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("uniteddeployments"), namespace)
}

// NewUnitedDeploymentInformer makes an informer of the UnitedDeployments of a namespace; the empty
// one means all namespaces. The caller starts it. Every resync period (0: never) it
// reports all objects to its handlers again. The indexers may be nil; listers are
// quick with cache.NamespaceIndex.
func NewUnitedDeploymentInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.UnitedDeployments(namespace), c, &v1alpha1.UnitedDeployment{}, resync, indexers)
}

// UnitedDeploymentLister reads UnitedDeployments from a cache, with the methods List and Namespace,
// which gives one with the methods List and Get. What they return must not be
// changed.
type UnitedDeploymentLister = typedclient.Lister[*v1alpha1.UnitedDeployment]

// NewUnitedDeploymentLister makes a lister of an informer's cache (its GetIndexer).
func NewUnitedDeploymentLister(indexer cache.Indexer) UnitedDeploymentLister {
	return typedclient.NewLister[*v1alpha1.UnitedDeployment](indexer, v1alpha1.Resource("uniteddeployment"))
}
